/* cmd_explain.c - `assay explain`: what the difference of a case's times is made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/out_file.h"
#include "cmd/gate_command.h"
#include "cmd/run_choice.h"
#include "gate/program_launch.h"
#include "show/explanation.h"
#include "store/store_id.h"

struct arguments {
    struct given given;
    const char *db, *format, *output, *suite, *device, *make;
    bool allow_simulated;
    int timeout_s;
    uint64_t seed;
};

static int check(void *given)
{
    const struct arguments *arguments = given;
    if (strncmp(arguments->device, "sim", 3) == 0 && !arguments->allow_simulated)
        return assay_error("a simulated device explains nothing (--allow-simulated)");
    return 0;
}

/* ----------------------------------------------------------------- programs -- */

/* A program that is measured: what it is and loads, and the run that it made. */
struct measured {
    char path[PATH_MAX];
    const char *objects[OBJECTS_MOST + 2];
    char run_id[STORE_ID];
};

static int exit_of(enum launch_end end)
{
    return end == LAUNCH_STOPPED ? EXIT_INTERRUPTED
           : end == LAUNCH_DIED  ? EXIT_LOST
           : end == LAUNCH_EMPTY ? EXIT_NOTHING
                                 : EXIT_USAGE;
}

/* Times and counters of the case, in one launch; times alone where the device counts nothing. */
static int measure(const struct arguments *arguments, const char *word, struct measured *measured)
{
    char label[STORE_ID + 16], id[STORE_ID];
    struct timings timings;
    struct store *store;
    if (id_random(id) != 0) return EXIT_USAGE;
    snprintf(label, sizeof label, "explain %.8s", id);
    struct program_call call = {.program = measured->path,
                                .suite = arguments->suite,
                                .device = arguments->device,
                                .filter = arguments->given.word[2],
                                .label = label,
                                .objects = measured->objects,
                                .allow_load = arguments->given.allow_load,
                                .seed = arguments->seed,
                                .timeout_s = arguments->timeout_s,
                                .counters = EXPLANATION_COUNTERS,
                                .times_too = true};
    if (store_open(&store, arguments->db, STORE_WRITE) != 0) return EXIT_USAGE;
    fprintf(stderr, "assay: measuring %s\n", word);
    enum launch_end end = program_launch(&call, store, &timings);
    if (end == LAUNCH_REFUSED || end == LAUNCH_DIED || end == LAUNCH_EMPTY) {
        call.counters = NULL;
        end = program_launch(&call, store, &timings);
    }
    if (end == LAUNCH_DONE) {
        snprintf(measured->run_id, sizeof measured->run_id, "%s", timings.run.run.id);
        timings_release(&timings);
    }
    store_close(store);
    return end == LAUNCH_DONE ? EXIT_FINE : exit_of(end);
}

/* ------------------------------------------------------------------- sides -- */

struct side {
    struct stored_run run;
    struct profile **profiles;
    bool is_read;
};

static bool is_file(const char *word)
{
    struct stat about;
    return gate_command_is_object(word) || (stat(word, &about) == 0 && S_ISREG(about.st_mode));
}

static int read_run(const struct arguments *arguments, const char *spec, struct side *side)
{
    int status = run_choice_read(&side->run, &side->profiles, spec, arguments->db);
    side->is_read = status == 0;
    return status;
}

/* A stored run, else a program. EXIT_FINE, or the exit code after assay_error. */
static int find_side(const struct arguments *arguments, const char *word, struct side *side)
{
    struct measured measured = {.run_id = ""};
    char no_run[ASSAY_MAX_REASON] = "";
    if (!is_file(word)) {
        if (read_run(arguments, word, side) == 0) return EXIT_FINE;
        snprintf(no_run, sizeof no_run, "%s", assay_last_error());
    }
    enum build_end end = gate_command_side(&arguments->given, word, arguments->make,
                                           measured.objects, measured.path);
    if (end == BUILD_STOPPED) return EXIT_INTERRUPTED;
    if (end == BUILD_FAILED) {
        char no_program[ASSAY_MAX_REASON];
        snprintf(no_program, sizeof no_program, "%s", assay_last_error());
        assay_error("%s%s%s", no_run, no_run[0] ? "; " : "", no_program);
        return EXIT_USAGE;
    }
    int code = measure(arguments, word, &measured);
    if (code != EXIT_FINE) return code;
    return read_run(arguments, measured.run_id, side) == 0 ? EXIT_FINE : EXIT_USAGE;
}

static int print(const struct arguments *arguments, const struct explanation *explanation)
{
    struct out_file out;
    if (explanation->count == 0) {
        fprintf(stderr, "assay explain: the two runs have no time of a case that matches '%s'\n",
                arguments->given.word[2]);
        return EXIT_NOTHING;
    }
    if (out_file_open(&out, arguments->output) != 0) return -1;
    int status = explanation_write(out.stream, explanation, arguments->format);
    return out_file_close(&out, status) == 0 ? EXIT_FINE : -1;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct side sides[2] = {{.is_read = false}};
    struct explanation explanation;
    int code = out_file_try(arguments->output) == 0 ? EXIT_FINE : -1;
    for (int i = 0; i < 2 && code == EXIT_FINE; i++) {
        code = find_side(arguments, arguments->given.word[i], &sides[i]);
        if (code != EXIT_FINE) fprintf(stderr, "assay explain: %s\n", assay_last_error());
    }
    if (code == EXIT_FINE) {
        const struct stored_run *const runs[] = {&sides[0].run, &sides[1].run};
        struct profile *const *const profiles[] = {sides[0].profiles, sides[1].profiles};
        code = explanation_make(&explanation, runs, profiles, arguments->given.word[2]);
        if (code == 0) code = print(arguments, &explanation);
        explanation_release(&explanation);
    }
    for (int i = 0; i < 2; i++) {
        if (!sides[i].is_read) continue;
        store_profiles_release(&sides[i].run, sides[i].profiles);
        stored_run_release(&sides[i].run);
    }
    return code;
}

static const struct command_option options[] = {
    {"suite", VALUE_SUITE_FILE, "SUITE", AT(suite),
     .help = "the suite that has the case, for programs (default core)"},
    {"device", VALUE_DEVICE, "D", AT(device), .help = "of programs: auto (default), cuda:N, host"},
    {"seed", VALUE_SEED, "N", AT(seed), .help = "of the inputs of programs (default 1)"},
    {"timeout", VALUE_COUNT, "S", AT(timeout_s), .help = "the longest launch (default 3600)",
     .least = 1, .most = 1000000},
    {"allow-simulated", VALUE_FLAG, .at = AT(allow_simulated),
     .help = "measure programs on a simulated device"},
    {"make", VALUE_TEXT, "COMMAND", AT(make), .help = MAKE_HELP},
    OPTIONS_OBJECT,
    OPTION_FORMAT("table md json"),
    OPTION_OUTPUT("write it there"),
    OPTION_DB,
    {0},
};

const struct command cmd_explain = {
    .name = "explain",
    .summary = "what the difference of a case's times is made of",
    .options = options,
    .words = {{"BASE", .kind = VALUE_RUN},
              {"CAND", .kind = VALUE_RUN},
              {"CASE", .kind = VALUE_CASE}},
    .least = 3,
    .most = 3,
    .which = "which two, and which case? (two runs, programs or revisions of git, and a case as it "
             "is printed)",
    .only = "two sides and one case only (quote a case that has blanks)",
    .synopsis = "BASE CAND CASE [options]",
    .about = "Divides the difference of the two times into terms: more launches, longer gaps\n"
             "between them, the clock, bytes of memory, instructions, waits. They are arithmetic\n"
             "on what is stored; what no fact accounts for is shown as unexplained, and all of\n"
             "them add up to the difference.\n"
             "\n"
             "BASE and CAND are each a stored run (an id, a label, a named baseline, latest), or\n"
             "a program, an object or a revision as assay ab takes them, which is measured with\n"
             "its counters. CASE is a case or a pattern of cases, as --filter takes them.\n",
    .notes = "Launches, gaps and clock are known of every run on a GPU. Bytes, instructions and\n"
             "waits take a profile: where a run has none, the last line is the command that\n"
             "stores one.\n",
    .examples = "assay explain latest~1 latest 'int8_quantize/*'\n"
                "assay explain v0.1.0 build/assay 'int8_quantize/host_*' --suite smoke",
    .exit = "0 explained, 2 usage, or a side that is neither a run nor a program, 4 no time of the "
            "case on both sides, 5 a program died, 130 interrupted.",
    .size = sizeof(struct arguments),
    .defaults =
        &(const struct arguments){
            .format = "table", .suite = "core", .device = "auto", .timeout_s = 3600, .seed = 1},
    .check = check,
    .run = run,
};
