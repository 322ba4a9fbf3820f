#include <stdlib.h>
#include <string.h>

#include "case/run_record.h"

const struct launch_info *stored_run_launch(const struct stored_run *run, const char *launch_id)
{
    for (int i = 0; i < run->launch_count; i++)
        if (strcmp(run->launches[i].id, launch_id) == 0) return &run->launches[i];
    return NULL;
}

void stored_run_release(struct stored_run *run)
{
    for (int i = 0; i < run->case_count; i++)
        samples_release(&run->cases[i].result.samples);
    free(run->cases);
    free(run->launches);
    free(run->suite_text);
    free(run->objects);
    memset(run, 0, sizeof *run);
}
