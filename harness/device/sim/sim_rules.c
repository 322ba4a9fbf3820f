#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/text.h"
#include "case/registry.h"
#include "device/sim/sim_rules.h"

enum { NAME = 2 * ASSAY_MAX_NAME };

/* "operation/variant" of all host variants. */
struct names {
    int count;
    char (*name)[NAME];
};

static int add_names(struct names *names, const char *operation)
{
    const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation, variants, REGISTRY_MAX_VARIANTS);
    void *more = realloc(names->name, (size_t)(names->count + count + 1) * sizeof *names->name);
    if (more == NULL) return assay_error("out of memory for the names of variants");
    names->name = more;
    for (int i = 0; i < count; i++)
        if (variants[i]->place == ASSAY_HOST)
            snprintf(names->name[names->count++], NAME, "%s/%s", operation, variants[i]->name);
    return 0;
}

static int read_names(struct names *names)
{
    const struct assay_operation *const *list;
    int count = registry_operations(&list);
    memset(names, 0, sizeof *names);
    for (int i = 0; i < count; i++)
        if (add_names(names, list[i]->name) < 0) return -1;
    return 0;
}

static bool matches_any(const struct names *names, const char *glob)
{
    for (int i = 0; i < names->count; i++)
        if (text_glob(glob, names->name[i])) return true;
    return false;
}

/* Suggest a glob for one that matches nothing: all variants of the operation with the most
 * similar name, or the most similar operation/variant. "" when nothing is similar. */
static int suggest(const struct names *names, const char *glob, char out[NAME])
{
    const char **words = malloc((size_t)(names->count + 1) * sizeof *words);
    char operation[NAME];
    if (words == NULL) return assay_error("out of memory for the names of variants");
    for (int i = 0; i < names->count; i++)
        words[i] = names->name[i];
    const char *near = text_nearest(glob, words, names->count);
    snprintf(out, NAME, "%s", near ? near : "");
    free(words);
    if (near && strpbrk(glob, "*?[") == NULL && strchr(glob, '/')) return 0;

    const struct assay_operation *const *list;
    int count = registry_operations(&list);
    const char **operations = malloc((size_t)(count + 1) * sizeof *operations);
    if (operations == NULL) return assay_error("out of memory for the names of operations");
    for (int i = 0; i < count; i++)
        operations[i] = list[i]->name;
    text_copy(operation, sizeof operation, glob);
    operation[strcspn(operation, "/*?[")] = '\0';
    const char *whole = text_nearest(operation, operations, count);
    if (whole) snprintf(out, NAME, "%s/*", whole);
    free(operations);
    return 0;
}

static int check(const struct names *names, const char *glob)
{
    char near[NAME];
    if (matches_any(names, glob)) return 0;
    if (suggest(names, glob, near) < 0) return -1;
    if (near[0] && matches_any(names, near))
        return assay_error("device 'sim': no operation/variant of the host matches '%s'; "
                           "did you mean '%s'?",
                           glob, near);
    return assay_error("device 'sim': no operation/variant of the host matches '%s' "
                       "(assay list variants)",
                       glob);
}

int sim_rules_check(const struct sim_spec *spec)
{
    struct names names;
    int status = read_names(&names);
    for (int i = 0; i < spec->rule_count && status == 0; i++)
        status = check(&names, spec->rules[i].glob);
    free(names.name);
    return status;
}
