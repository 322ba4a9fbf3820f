#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_code.h"
#include "base/terminal.h"
#include "base/text.h"
#include "case/case_name.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "show/view.h"
#include "store/store_central.h"
#include "store/store_gate.h"
#include "store/store_shard.h"

/* Open the database that the run is in, at `path`, and find its id. -1: nothing is open. */
static int find(struct store **store, const char *spec, const char *db, char path[PATH_MAX],
                char id[STORE_ID])
{
    const char *name;
    if (spec && !spec[0]) return assay_error("'' names no run (latest is the newest)");
    if (store_split_run(spec ? spec : "latest", db, path, PATH_MAX, &name)) return -1;
    if (store_open(store, path, STORE_READ)) return -1;
    if (store_find_run_or_job(*store, name, id) == 0) return 0;
    store_close(*store);
    return -1;
}

int run_choice_read(struct stored_run *run, bool with_profiles, const char *spec, const char *db)
{
    char id[STORE_ID], path[PATH_MAX];
    struct store *store;
    if (find(&store, spec, db, path, id)) return -1;
    int failed = store_read_run(store, id, true, run);
    if (!failed && with_profiles) failed = store_read_profiles(store, run);
    bool lacks;
    if (!failed && run->shares > 0) failed = shares_say(store, NULL, run->run.shard.group, &lacks);
    if (failed) stored_run_release(run);
    store_close(store);
    return failed;
}

const char *run_choice_hint(char out[TEXT_HINT], const struct stored_run *run, const char *filter)
{
    struct case_names *names = calloc((size_t)run->case_count + 1, sizeof *names);
    for (int i = 0; names && i < run->case_count; i++)
        names[i] = case_names_of(&run->cases[i].result.id);
    case_hint(out, filter, names, names ? run->case_count : 0);
    free(names);
    return out;
}

int run_choice_no_case(const struct given *given, const struct stored_run *run, const char *filter)
{
    char hint[TEXT_HINT];
    fprintf(stderr, "assay %s: no case of run %.8s matches '%s'%s\n", given->command->name,
            run->run.id, filter, run_choice_hint(hint, run, filter));
    return EXIT_NOTHING;
}

static void say_command(const char *command, const char *spec, const char *output, const char *db)
{
    char line[4 * STORE_SHOWN], shown[STORE_SHOWN];
    snprintf(line, sizeof line, "%s", command);
    text_add_word(line, sizeof line, store_shown(spec, shown));
    text_add(line, sizeof line, " ", output ? "-o" : "--best");
    if (output) text_add_word(line, sizeof line, output);
    if (strcmp(db, database_default(NULL)) != 0) {
        text_add(line, sizeof line, " ", "--db");
        text_add_word(line, sizeof line, store_shown(db, shown));
    }
    fprintf(stderr, "%s\n", line);
}

void run_choice_say_next(const struct stored_run *run, const char *spec, const char *db,
                         bool had_best)
{
    char page[PATH_MAX], id[9];
    if (!isatty(STDOUT_FILENO) || terminal_is_quiet()) return;
    fflush(stdout); /* both are one terminal */
    snprintf(id, sizeof id, "%.8s", run->run.id);
    snprintf(page, sizeof page, "%s.html", run->run.suite);
    if (!spec) spec = id;
    if (!had_best) say_command("next: assay show", spec, NULL, db);
    say_command(had_best ? "next: assay report" : "      assay report", spec, page, db);
}

/* The noise of unchanged code that the runs' databases know. */
struct known_noise {
    struct noise noise;
    const char *metric;
    char path[PATH_MAX], key[STORE_ID]; /* where the last of it is from */
};

/* On the device of the run's first launch. */
static int add_noise(struct known_noise *known, struct store *store, const char *path,
                     const struct timings *timings)
{
    char key[STORE_ID];
    struct noise own;
    if (timings->run.launch_count == 0) return 0;
    if (store_comparability(store, timings->run.launches[0].id, key)) return -1;
    if (strcmp(known->path, path) == 0 && strcmp(known->key, key) == 0) return 0;
    if (store_read_noise(store, key, known->metric, NULL, &own)) return -1;
    int failed = noise_merge(&known->noise, &own);
    noise_release(&own);
    snprintf(known->path, sizeof known->path, "%s", path);
    snprintf(known->key, sizeof known->key, "%s", key);
    return failed;
}

/* How long each case would take at the ceiling that binds it on its device. */
static int add_ceilings(struct timings *timings, struct store *store, const char *id)
{
    struct stored_run run;
    struct view view;
    if (store_read_run(store, id, false, &run) != 0) return -1;
    int status = view_make(&view, &run);
    for (int i = 0; status == 0 && i < view.count; i++) {
        const struct view_row *row = &view.rows[i];
        const struct timing *first = timings_first(timings, &row->result.id);
        if (!first || row->is_ceiling) continue;
        struct timing *timing = timings->rows + (first - timings->rows);
        const struct timing *end = timings->rows + timings->count;
        for (; timing < end && case_id_order(&timing->id, &first->id) == 0; timing++)
            timing->ceiling_ns = row->ceiling_fraction * row->result.time_ns;
    }
    if (status == 0) view_release(&view);
    stored_run_release(&run);
    return status;
}

static int read_timings(struct timings *timings, struct known_noise *known, const char *spec,
                        const char *db, bool with_ceilings, char path[PATH_MAX], bool *lacks)
{
    const struct shard *shard = &timings->run.run.shard;
    char id[STORE_ID];
    struct store *store;
    if (find(&store, spec, db, path, id)) return -1;
    int failed = store_read_timings(store, id, timings);
    if (!failed && with_ceilings) failed = add_ceilings(timings, store, id);
    if (!failed) failed = add_noise(known, store, path, timings);
    bool lacks_more = false;
    if (!failed && shard->count > 1)
        failed = shares_say(store, "compare", shard->group, &lacks_more);
    *lacks = *lacks || lacks_more;
    store_close(store);
    return failed;
}

static void say_no_case(const struct timings *base, const struct timings *candidate,
                        const char *filter)
{
    char hint[TEXT_HINT];
    int count = 0;
    struct case_names *names =
        calloc((size_t)base->count + (size_t)candidate->count + 1, sizeof *names);
    for (int i = 0; names && i < base->count; i++)
        names[count++] = case_names_of(&base->rows[i].id);
    for (int i = 0; names && i < candidate->count; i++)
        names[count++] = case_names_of(&candidate->rows[i].id);
    fprintf(stderr, "assay compare: no case of the two runs matches '%s'%s\n", filter,
            case_hint(hint, filter, names, count));
    free(names);
}

/* As a gate does: what the candidate's database knows of is reported and does not fail. */
static int apply_acks(struct comparison *comparison, const char *path, unsigned fail_on)
{
    struct store *store;
    if (store_open(&store, path, STORE_READ)) return -1;
    int failed = store_apply_acks(store, comparison);
    store_close(store);
    return failed ? -1 : comparison_finish(comparison, fail_on);
}

/* The noise is both sides': which of them is the base must not matter. */
int run_choice_compare(struct comparison *comparison, const char *base, const char *candidate,
                       const char *db, const struct compare_options *options)
{
    struct timings left = {0}, right = {0};
    struct compare_options with_noise = options ? *options : (struct compare_options){0};
    struct known_noise known = {.metric = with_noise.speedup ? "speedup" : "time"};
    with_noise.noise = &known.noise;
    char path[PATH_MAX];
    bool lacks = false, limits = with_noise.across;
    int status = read_timings(&left, &known, base, db, limits, path, &lacks);
    if (status == 0) status = read_timings(&right, &known, candidate, db, limits, path, &lacks);
    if (status == 0) status = compare_runs(comparison, &left, &right, &with_noise);
    if (status == 0 && (status = apply_acks(comparison, path, with_noise.fail_on)) != 0)
        comparison_release(comparison);
    if (status == 0 && comparison->count == 0 && with_noise.filter)
        say_no_case(&left, &right, with_noise.filter);
    if (status == 0 && lacks && comparison->exit == EXIT_FINE) comparison->exit = EXIT_LOST;
    timings_release(&left);
    timings_release(&right);
    noise_release(&known.noise);
    return status;
}

/* ---------------------------------------------------------------- shares -- */

struct saying {
    const char *command, *job;
    bool lacks;
};

static int say(const struct shard_job *job, void *context)
{
    struct saying *saying = context;
    if (!job->text[0] || (saying->job && strcmp(saying->job, job->group) != 0)) return 0;
    fprintf(stderr, "assay%s%s: %s\n", saying->command ? " " : "",
            saying->command ? saying->command : "", job->text);
    saying->lacks = true;
    return 0;
}

int shares_say(struct store *store, const char *command, const char *job, bool *lacks)
{
    struct saying saying = {.command = command, .job = job};
    int status = store_each_shard_job(store, say, &saying);
    *lacks = saying.lacks;
    return status;
}
