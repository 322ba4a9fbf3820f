#include "cmd/shares.h"

#include <stdio.h>
#include <string.h>

#include "store/store_shard.h"

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
