/* claim_list.c - a file of claims. */
#include <stdlib.h>

#include "case/registry.h"
#include "suite/claim.h"
#include "suite/suite_file.h"
#include "suite/suite_find.h"

static int read_all(struct claims *claims, const struct suite_file *file)
{
    claims->item = calloc((size_t)file->claim_count + 1, sizeof *claims->item);
    if (!claims->item) return assay_error("out of memory for the claims");
    for (int i = 0; i < file->claim_count; i++) {
        if (claim_read(&claims->item[i], &file->claims[i])) return -1;
        claims->count++;
    }
    return 0;
}

int claims_read(struct claims *claims, const char *name_or_path)
{
    char path[SUITE_MAX_PATH];
    struct suite_file file;
    *claims = (struct claims){0};
    if (registry_check() || suite_find(name_or_path, NULL, path) || suite_file_read(&file, path))
        return -1;
    int failed = file.claim_count ? read_all(claims, &file)
                                  : assay_error("%s: there is no [claim] in it", path);
    suite_file_release(&file);
    if (failed) claims_release(claims);
    return failed;
}

void claims_release(struct claims *claims)
{
    free(claims->item);
    *claims = (struct claims){0};
}
