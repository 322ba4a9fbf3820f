/* run_choice.c - see run_choice.h. */
#include <limits.h>

#include "commands.h"
#include "run_choice.h"

/* `profiles` NULL: not wanted. */
static int read_chosen(struct stored_run *run, struct profile ***profiles, const char *spec,
                       const char *db)
{
    char path[PATH_MAX], id[STORE_ID];
    const char *name;
    struct store *store;
    if (store_split_run(spec ? spec : "latest", command_database(db), path, sizeof path, &name))
        return -1;
    if (store_open(&store, path, STORE_READ)) return -1;
    int failed = store_find_run(store, name, id) || store_read_run(store, id, true, run) ? -1 : 0;
    if (!failed && profiles && store_read_profiles(store, run, profiles)) {
        stored_run_release(run);
        failed = -1;
    }
    store_close(store);
    return failed;
}

int run_choice_read(struct stored_run *run, const char *spec, const char *db)
{
    return read_chosen(run, NULL, spec, db);
}

int run_choice_read_profiles(struct stored_run *run, struct profile ***profiles, const char *spec,
                             const char *db)
{
    return read_chosen(run, profiles, spec, db);
}
