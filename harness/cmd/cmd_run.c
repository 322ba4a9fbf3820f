/* cmd_run.c - `assay run`: measure suites, store them, print the table. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "cmd/run_command.h"
#include "device/device.h"
#include "run/launcher.h"
#include "show/view.h"
#include "store/store_central.h"

enum { MOST_SHARDS = 1000000 };

struct arguments {
    struct given given;
    struct runner_options runner;
    const char *format, *shard, *clock, *flush, *fail_on;
    double most_spread;
    char path[PATH_MAX]; /* of the database of one of several processes */
};

/* ----------------------------------------------------------------- share -- */

/* I/N or I/N:JOB, where I and N are plain numbers. */
static bool parse_shard(const char *text, struct shard *shard)
{
    int used = 0;
    if (sscanf(text, "%9d/%9d%n", &shard->index, &shard->count, &used) != 2) return false;
    if (shard->index < 1 || shard->index > shard->count || shard->count > MOST_SHARDS) return false;
    if (!text[used]) return true;
    return text[used] == ':' && text[used + 1] &&
           text_copy(shard->group, sizeof shard->group, text + used + 1) == 0;
}

/* "results.sqlite" of rank 2 is "results.0003.sqlite", after its share. */
static int own_path(struct arguments *arguments, int rank)
{
    const char *path = arguments->runner.database, *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    int length = dot && dot > path && dot[-1] != '/' ? (int)(dot - path) : (int)strlen(path);
    int size = snprintf(arguments->path, sizeof arguments->path, "%.*s.%04d%s", length, path,
                        rank + 1, path + length);
    if (size >= (int)sizeof arguments->path) return assay_error("--db: the path is too long");
    arguments->runner.database = arguments->path;
    return 0;
}

/* One of several processes measures its share into a database of its own, on a GPU of its own. */
static int join_job(struct arguments *arguments, const struct rank *rank)
{
    struct runner_options *runner = &arguments->runner;
    char shown[STORE_SHOWN];
    runner->is_own_job = true;
    runner->pick = rank->local + 1;
    snprintf(runner->shard.group, sizeof runner->shard.group, "%s", rank->job);
    if (own_path(arguments, rank->index) < 0) return -1;
    if (!arguments->shard) {
        runner->shard.index = rank->index + 1;
        runner->shard.count = rank->count;
    }
    fprintf(stderr, "assay run: %s: %s%s, into %s\n", rank->how,
            arguments->shard ? "the whole suite" : "its share", runner->resume ? " resumed" : "",
            store_shown(runner->database, shown));
    return 0;
}

/* A share that was asked for is measured where and into what was asked for. */
static int check_shard(struct arguments *arguments)
{
    struct runner_options *runner = &arguments->runner;
    const char *text = arguments->shard;
    bool is_none = text && strcmp(text, "none") == 0;
    struct rank rank;
    runner->times = runner->database;
    if (text && !is_none && !parse_shard(text, &runner->shard))
        return assay_error("--shard wants none, I/N or I/N:JOB with 1 <= I <= N, not '%s'", text);
    if (launcher_find(&rank, getenv) < 0) return text ? 0 : -1;
    if (text && !is_none) {
        if (runner->shard.group[0]) return 0;
        runner->is_own_job = rank.count > 1;
        snprintf(runner->shard.group, sizeof runner->shard.group, "%s", rank.job);
        return 0;
    }
    return rank.count > 1 ? join_job(arguments, &rank) : 0;
}

static int check(void *given)
{
    struct arguments *arguments = given;
    struct runner_options *runner = &arguments->runner;
    const char *of_all = option_given(given, "replicate side-by-side");
    if (of_all && device_choice(runner->device) != DEVICE_ALL)
        return assay_error("--%s is for --device cuda:all", of_all);
    if (check_shard(arguments) < 0) return -1;
    if (arguments->flush) runner->flush = flush_parse(arguments->flush);
    runner->use_events = strcmp(arguments->clock, "event") == 0;
    /* Where nothing is timed, nothing would be held against the ceilings. */
    if (runner->check_only || runner->fingerprints) runner->plan.with_ceilings = false;
    return run_command_check(runner, given);
}

/* ---------------------------------------------------------------- printing -- */

/* Say on standard error how many rows are noisy, unless a terminal has just shown it. */
static bool say_noise(const struct view *view, const char *format)
{
    char text[NOISE_TEXT];
    bool is_noisy = view_noise_text(view, text);
    bool is_seen = terminal_is_live(stdout) && strcmp(format, "table") == 0;
    if (is_noisy && !is_seen) fprintf(stderr, "assay: %s\n", text);
    return is_noisy;
}

/* Whether it is a share without cases, which is nothing amiss: mpirun would end the other ranks. */
static bool say_empty(const struct stored_run *run)
{
    const struct shard *shard = &run->run.shard;
    bool is_empty = run->case_count == 0 && shard->count > 0;
    if (is_empty)
        fprintf(stderr, "assay run: share %d of %d is empty: there are fewer groups\n",
                shard->index, shard->count);
    return is_empty;
}

/* Print the run as it is stored: what is shown is what was kept. The exit code, or -1. */
static int print_run(const struct given *given, const char *run_id)
{
    const struct arguments *arguments = (const void *)given;
    struct stored_run run;
    const struct show_options show = {
        .format = arguments->format, .colour = terminal_colour(), .width = terminal_columns()};
    struct view view;
    int code = -1;
    if (run_choice_read(&run, false, run_id, arguments->runner.database)) return -1;
    if (view_make_noisy_above(&view, &run, arguments->most_spread) == 0) {
        if (show_view(stdout, &view, &show) == 0) code = view_exit_code(&run);
        if (code == EXIT_NOTHING && say_empty(&run)) code = EXIT_FINE;
        bool is_noisy = say_noise(&view, arguments->format);
        if (code == EXIT_FINE && is_noisy && arguments->fail_on) code = EXIT_UNDECIDED;
        view_release(&view);
    }
    if (code >= 0 && strcmp(show.format, "table") == 0)
        run_choice_say_next(&run, NULL, arguments->runner.database, false);
    stored_run_release(&run);
    return code;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    return run_command(given, &arguments->runner, print_run);
}

static const struct command_option options[] = {
    {"device", VALUE_DEVICE, "D", AT(runner.device),
     .help = "auto (default), cuda:N, host or sim:KEY=VALUE,... (simulated); cuda:all: every GPU, "
             "each a part of the groups; "
             "cuda:N,sm=80,shared=163Ki shows kernels no more than another card has"},
    {"replicate", VALUE_FLAG, .at = AT(runner.replicate),
     .help = "with cuda:all: every case on each GPU"},
    {"side-by-side", VALUE_FLAG, .at = AT(runner.side_by_side),
     .help = "with cuda:all: at the same time also what shares the link to the host, or its cores"},
    OPTION_FILTER(VALUE_VARIANT, runner.plan.filter),
    {"launches", VALUE_COUNT, "N", AT(runner.launches),
     .help = "measure the suite in N fresh processes (default 1)", .least = 1, .most = 1000},
    {"budget", VALUE_SECONDS, "S", AT(runner.plan.budget_s),
     .help = "sampling time per case, in seconds (default: the suite's)"},
    {"precision", VALUE_PERCENT, "PCT", AT(runner.plan.precision_pct),
     .help = "stop when the median is known to +-PCT % (default: the suite's)"},
    OPTION_LABEL,
    {"db", VALUE_DATABASE, "FILE", AT(runner.database), .help = OPTION_DB_HELP},
    {"resume", VALUE_FLAG, .at = AT(runner.resume),
     .help = "go on with the newest unfinished run of the suite"},
    {"shard", VALUE_TEXT, "I/N", AT(shard),
     .help =
         "only share I of N of the groups; I/N:JOB: one that a job left out; none: all of them "
         "in each process of a job (default: under srun, mpirun or in an array job the share of "
         "this process, into a database of its own)"},
    {"clock", VALUE_CHOICE, "NAME", AT(clock), .help = "cupti (default where it works) or event",
     .choices = "cupti event"},
    {"flush", VALUE_CHOICE, "NAME", AT(flush),
     .help = "how cold caches are made: read, write, or, on a host, lines (default: lines where "
             "the processor can, else read)",
     .choices = "read write lines"},
    OPTION_SEED,
    {"no-ceilings", VALUE_NO_FLAG, .at = AT(runner.plan.with_ceilings),
     .help = "do not measure the ceilings that the suite needs"},
    {"wait-quiet", VALUE_SECONDS, "S", AT(runner.wait_quiet_s),
     .help = "first wait, at most S seconds, for other programs to leave processors and GPU"},
    OPTION_NOISY,
    {"fail-on", VALUE_CHOICE, "WHAT", AT(fail_on), .help = "noisy: end with 3 if a row is noisy",
     .choices = "noisy"},
    OPTION_FORMAT("table md csv json"),
    {"twin", VALUE_FILE, "FILE.so", AT(runner.twin),
     .help = "also measure this object's variants of the same names, launch by launch in turns"},
    {"twin-floor", VALUE_FRACTION, "PCT", AT(runner.twin_floor),
     .help = "turns end when a change is told from this much (default: the suite's threshold, else "
             "0.5)",
     .with = "twin"},
    {"check", VALUE_FLAG, .at = AT(runner.check_only),
     .help = "check every answer once, time nothing"},
    {"fingerprint", VALUE_FILE, "FILE", AT(runner.fingerprints),
     .help = "write there what each case launches and with which machine code, by which assay gate "
             "tells what is unchanged; check and time nothing"},
    {"dry-run", VALUE_FLAG, .at = AT(runner.dry_run), .help = "print what would be measured"},
    OPTIONS_OBJECT,
    {0},
};

const struct command cmd_run = {
    .name = "run",
    .summary = "measure suites, store every sample, print the table",
    .options = options,
    RUN_COMMAND_WORDS,
    .about = "Measures every case of the suites, stores all samples and prints the table.\n",
    .examples = "assay run smoke --device host\n"
                "assay run softmax.ini --load softmax.so --db softmax.sqlite\n"
                "assay run int8 --filter 'int8_quantize/*' --launches 3 --label before\n"
                "assay run int8 --filter 'int8_quantize n=5000000 cold' --dry-run",
    .exit = "0 fine, 1 a wrong answer, or a right one that the suite expects to be wrong, 2 usage, "
            "3 a row is noisy (with --fail-on noisy), 4 nothing measured, 5 a case crashed or "
            "timed out, 130 interrupted (what was complete "
            "is stored).",
    .loads = true,
    .size = sizeof(struct arguments),
    .defaults = &(
        const struct arguments){.format = "table",
                                .clock = "cupti",
                                .most_spread = NOISY_SPREAD,
                                .runner = {RUN_COMMAND_DEFAULTS, .plan = {.with_ceilings = true}}},
    .check = check,
    .run = run,
};
