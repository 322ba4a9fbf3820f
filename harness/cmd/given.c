/* given.c - what several commands do with what they are given. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/process.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "store/store_central.h"

int files_take(struct given *given, const char *db,
               int (*take)(struct store *store, const char *path, void *arguments))
{
    struct store *store;
    int status = 0;
    for (int i = 0; i < given->count; i++) {
        char shown[STORE_SHOWN];
        if (store_is_url(given->word[i]))
            return assay_error("%s: the runs of a central store come by assay pull",
                               store_shown(given->word[i], shown));
        if (strcmp(given->word[i], "-") && access(given->word[i], R_OK))
            return assay_error("%s: cannot be read: %s", given->word[i], strerror(errno));
    }
    if (store_open(&store, db, STORE_WRITE) != 0) return -1;
    for (int i = 0; i < given->count && status == 0; i++)
        status = take(store, given->word[i], given);
    store_close(store);
    return status ? -1 : EXIT_FINE;
}

int program_itself(char *path, size_t size)
{
    static const char *const none[] = {NULL};
    const char *self[PROCESS_SELF_MOST];
    char found[PATH_MAX];
    const char *program = process_self(none, self);
    if (!program || self[1])
        return assay_error("this program has no file of its own here: name one (--cand PROGRAM)");
    if (!realpath(program, found) || text_copy(path, size, found) < 0)
        return assay_error("cannot find this program: %s", program);
    return 0;
}
