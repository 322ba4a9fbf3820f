#include "cmd/assay_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/process.h"
#include "bench/bench.h"
#include "case/registry.h"
#include "cmd/commands.h"
#include "judge/twin.h"
#include "measure/turns.h"
#include "object/object.h"

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

static int fill_registry(const struct assay_object *const *objects, int object_count)
{
    if (registry_check() < 0) return -1;
    objects_describe(BENCH_ENDING, bench_load, bench_digest);
    turns_end_by(twin_is_decided);
    for (int i = 0; i < object_count; i++)
        if (registry_add(objects[i], "the caller of this program") < 0) return -1;
    return 0;
}

int assay_program(const char *const *self, const struct assay_object *const *objects,
                  int object_count, int argc, char **argv)
{
    settle_streams();
    signal(SIGCHLD, SIG_DFL); /* if that is ignored, nobody learns how a process ended */
    process_set_self(self);
    if (fill_registry(objects, object_count) < 0) {
        fprintf(stderr, "assay: %s\n", assay_last_error());
        return EXIT_USAGE;
    }
    int code = dispatch(argc, argv);
    /* A full disk or a closed pipe shows only now; a command that saw it has said so, with the
     * reason, which is not known any more. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && code != EXIT_USAGE) {
        fprintf(stderr, "assay: writing the output: %s\n", strerror(errno));
        if (code == EXIT_FINE) code = EXIT_USAGE;
    }
    return code;
}
