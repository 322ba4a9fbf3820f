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
#include "cmd/version.h"

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "assay: which command? (see: assay help)\n");
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        version_print(stdout);
        return EXIT_FINE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return cmd_help(1, argv + 1);
    for (const struct command *command = commands; command->name; command++) {
        if (strcmp(command->name, argv[1]) != 0) continue;
        bool asks = false;
        for (int i = 2; i < argc && command->summary; i++)
            asks = asks || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
        if (!asks) return command->run(argc - 1, argv + 1);
        fputs(command->usage, stdout);
        return EXIT_FINE;
    }
    return command_unknown(argv[1]);
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
