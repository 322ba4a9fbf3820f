/* main.c - finds the command, runs it, and sees that its output arrived. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "case/registry.h"
#include "cmd/commands.h"

/* Options that stand before a command are the program's own; only the first is looked at. */
static int dispatch(int argc, char **argv)
{
    if (argc < 2) return command_run(&program, argc, argv);
    if (argv[1][0] == '-' && argv[1][1]) return command_run(&program, 2, argv);
    const struct command *command = command_find(argv[1], true);
    if (command) return command_run(command, argc - 1, argv + 1);
    fprintf(stderr, "assay: %s (see: assay help)\n", assay_last_error());
    return EXIT_USAGE;
}

/* What a caller closed gets a descriptor of its own, else the next file opened (the
 * database) would take its place. What is written to a closed output still fails. */
static void settle_streams(void)
{
    static const int modes[] = {
        [STDIN_FILENO] = O_RDONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd) _exit(EXIT_USAGE);
}

int main(int argc, char **argv)
{
    settle_streams();
    if (registry_check() < 0) {
        fprintf(stderr, "assay: %s\n", assay_last_error());
        return EXIT_USAGE;
    }
    int code = dispatch(argc, argv);
    /* A full disk or a closed pipe shows only now. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "assay: writing the output: %s\n", strerror(errno));
        if (code == EXIT_FINE) code = EXIT_USAGE;
    }
    return code;
}
