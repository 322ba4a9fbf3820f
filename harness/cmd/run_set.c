/* run_set.c - several stored runs. */
#include <string.h>

#include "cmd/commands.h"
#include "cmd/run_choice.h"
#include "cmd/run_set.h"

static int add(struct run_set *set, const char *spec, const char *db)
{
    struct stored_run *run = &set->run[set->count];
    if (set->count == RUN_SET_MAX) return assay_error("more than %d runs", RUN_SET_MAX);
    if (run_choice_read(run, spec, db)) return -1;
    if (view_make(&set->view[set->count], run)) {
        stored_run_release(run);
        return -1;
    }
    set->count++;
    return 0;
}

/* -------------------------------------------------------- the latest ones -- */

struct latest {
    char device[RESULT_MAX_PROPERTY];
    char id[RUN_SET_MAX][STORE_ID], suite[RUN_SET_MAX][ASSAY_MAX_NAME];
    int count, seen;
};

/* Newest first: the first of a suite is its latest. */
static int take(const struct run_line *line, void *context)
{
    struct latest *latest = context;
    if (line->gate[0]) return 0; /* half of a gate's launches are of another program */
    if (latest->seen++ == 0) memcpy(latest->device, line->device, sizeof latest->device);
    if (strcmp(latest->device, line->device) || latest->count == RUN_SET_MAX) return 0;
    for (int i = 0; i < latest->count; i++)
        if (!strcmp(latest->suite[i], line->suite)) return 0;
    memcpy(latest->suite[latest->count], line->suite, sizeof line->suite);
    memcpy(latest->id[latest->count++], line->id, sizeof line->id);
    return 0;
}

static int add_latest(struct run_set *set, const char *db)
{
    struct store *store;
    struct latest latest = {0};
    const char *path = command_database(db);
    if (store_open(&store, path, STORE_READ)) return -1;
    int failed = store_each_run(store, true, take, &latest);
    store_close(store);
    if (!failed && !latest.count)
        failed = assay_error("%s: there is no run in it (launches of gates are not counted)", path);
    for (int i = 0; i < latest.count && !failed; i++)
        failed = add(set, latest.id[i], db);
    return failed;
}

int run_set_read(struct run_set *set, char *const *specs, int count, const char *db)
{
    int failed = 0;
    set->count = 0;
    for (int i = 0; i < count && !failed; i++)
        failed = add(set, specs[i], db);
    if (count == 0) failed = add_latest(set, db);
    if (failed) run_set_release(set);
    return failed;
}

void run_set_release(struct run_set *set)
{
    for (int i = 0; i < set->count; i++) {
        view_release(&set->view[i]);
        stored_run_release(&set->run[i]);
    }
    set->count = 0;
}
