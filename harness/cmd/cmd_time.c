/* cmd_time.c - `assay time`: the kernels of any program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/terminal.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "trace/program.h"
#include "trace/recorder.h"
#include "trace/trace_table.h"

struct arguments {
    struct given given;
    struct recorder_options recorder;
    const char *by;
};

static bool is_line(const char *text)
{
    return text_is_printable(text) && text[0];
}

static int check(void *given)
{
    struct arguments *arguments = given;
    struct recorder_options *recorder = &arguments->recorder;
    const char *taken = getenv("CUDA_INJECTION64_PATH");
    recorder->argv = (const char *const *)arguments->given.word;
    if (recorder->label &&
        (!is_line(recorder->label) || strlen(recorder->label) >= RESULT_MAX_PROPERTY))
        return assay_error("--label wants a line of at most %d bytes", RESULT_MAX_PROPERTY - 1);
    if (recorder->name && (!is_line(recorder->name) || strchr(recorder->name, '/')))
        return assay_error("--name wants a word for the program, without a slash");
    if (taken && taken[0])
        return assay_error("CUDA_INJECTION64_PATH is set: another profiler records the programs "
                           "that are started here");
    return 0;
}

/* What was stored, on standard error: standard output is the program's. */
static int print(const struct arguments *arguments, const char *run_id)
{
    struct stored_run run;
    if (run_choice_read(&run, true, run_id, arguments->recorder.database)) return -1;
    for (int i = 0; i < run.launch_count; i++)
        if (run.launches[i].device.lost[0])
            fprintf(stderr, "assay time: not recorded in launch %d: %s\n", run.launches[i].number,
                    run.launches[i].device.lost);
    int status = trace_table_print(stderr, &run, run.profiles, strcmp(arguments->by, "range") == 0,
                                   terminal_width(stderr, TERMINAL_ENDLESS));
    stored_run_release(&run);
    return status;
}

static int run(void *given)
{
    static const int codes[] = {
        [RECORDER_COMPLETE] = EXIT_FINE,   [RECORDER_INTERRUPTED] = EXIT_INTERRUPTED,
        [RECORDER_LOST] = EXIT_LOST,       [RECORDER_NOTHING] = EXIT_NOTHING,
        [RECORDER_UNSTARTED] = EXIT_USAGE, [RECORDER_FAILED] = EXIT_USAGE,
    };
    const struct arguments *arguments = given;
    char run_id[STORE_ID];
    if (injected_check() != 0) {
        fprintf(stderr, "assay time: %s\n", assay_last_error());
        return EXIT_NOTHING;
    }
    if (store_try(arguments->recorder.database) != 0) return -1;
    assay_clear_error();
    enum recorder_end end = recorder_run(&arguments->recorder, run_id);
    char why[1024];
    snprintf(why, sizeof why, "%s", assay_last_error());
    if (run_id[0] && end != RECORDER_FAILED && print(arguments, run_id) != 0) return -1;
    if (!run_id[0] && end == RECORDER_INTERRUPTED)
        fprintf(stderr, "assay time: interrupted before a kernel was recorded\n");
    if (run_id[0])
        fprintf(stderr, "assay: run %.8s is in %s\n", run_id, arguments->recorder.database);
    if (end != RECORDER_COMPLETE && end != RECORDER_INTERRUPTED)
        fprintf(stderr, "assay time: %s\n", why);
    return codes[end];
}

static const struct command_option options[] = {
    {"launches", VALUE_COUNT, "N", AT(recorder.launches),
     .help = "run the program N times (default 1); compare decides on four or more", .least = 1,
     .most = 1000},
    {"by", VALUE_CHOICE, "WHAT", AT(by),
     .help = "kernel (default), or range: a table per NVTX range", .choices = "kernel range"},
    {"name", VALUE_TEXT, "WORD", AT(recorder.name),
     .help = "what its cases are called by (default: the file name of PROGRAM)"},
    {"label", VALUE_TEXT, "TEXT", AT(recorder.label), .help = "a name for the run"},
    {"keep-command", VALUE_FLAG, .at = AT(recorder.keep_command),
     .help = "store the arguments of the program too, not only a hash of them"},
    {"db", VALUE_DATABASE, "FILE", AT(recorder.database), .help = OPTION_DB_HELP},
    {0},
};

const struct command cmd_time = {
    .name = "time",
    .summary = "the kernels of any CUDA program, recorded while it runs",
    .options = options,
    .words = {{"PROGRAM", .kind = VALUE_FILE}, {"ARGUMENT", .kind = VALUE_FILE}},
    .least = 1,
    .most = ANY_NUMBER,
    .which = "which program? (assay time -- PROGRAM ARGUMENT...)",
    .synopsis = "[options] -- PROGRAM [ARGUMENT...]",
    .about = "Runs the program as it would run without, records each kernel that it and its\n"
             "child processes launch (name, NVTX range, duration by the GPU's clock), and\n"
             "stores a run with a case per range and kernel, which assay compare, history and\n"
             "report take as any other. The table goes to standard error: standard output is\n"
             "the program's.\n",
    .notes = "A case is called PROGRAM/KERNEL range=RANGE. Its status is unchecked, for nothing\n"
             "says whether the kernel's answer is right.\n",
    .examples = "assay time --launches 6 --label before -- ./train --steps 20\n"
                "assay time --by range -- ./decode model.bin",
    .exit = "0 fine, 2 usage, or no such program, 4 it ran no kernel, 5 it ended with another "
            "exit code than 0 or was killed (what it ran is stored), 130 interrupted (likewise).",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.by = "kernel", .recorder = {.launches = 1}},
    .check = check,
    .run = run,
};
