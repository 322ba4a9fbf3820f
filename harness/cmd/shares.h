/* shares.h - tells of the shares of a divided suite that a database lacks. */
#pragma once

#include "store/store.h"

/* Say on standard error what each job lacks whose name is `job`; NULL: any job. `command` may be
 * NULL. *lacks: whether something was said. 0, or -1 with assay_error. */
int shares_say(struct store *store, const char *command, const char *job, bool *lacks);
