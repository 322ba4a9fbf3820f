#include <stdlib.h>
#include <string.h>

#include "case/run_record.h"

void stored_run_release(struct stored_run *run)
{
    for (int i = 0; i < run->case_count; i++)
        samples_release(&run->cases[i].result.samples);
    free(run->cases);
    free(run->launches);
    free(run->suite_text);
    memset(run, 0, sizeof *run);
}
