#include "load_openblas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/error.h"
#include "base/library.h"

static const struct library_symbol symbols[] = {
    {"cblas_sgemm", NULL, offsetof(struct openblas, sgemm), false},
    {"cblas_sdot", NULL, offsetof(struct openblas, sdot), false},
    {"openblas_get_config", NULL, offsetof(struct openblas, config), false},
};

static struct openblas api;
static bool is_loaded;

/* With ASSAY_OPENBLAS only the file that it names is tried; otherwise the loader searches as for a
 * program that is linked to the library. */
static void *find(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", NULL};
    static const char *const nowhere[] = {NULL};
    const char *chosen = getenv("ASSAY_OPENBLAS");
    const char *const only[] = {chosen, NULL};
    return library_open(chosen && *chosen ? only : names, nowhere);
}

int openblas_load(void)
{
    if (is_loaded) return 0;
    void *library = find();
    struct openblas found;
    if (library && library_bind(library, symbols, sizeof symbols / sizeof *symbols, &found) == 0) {
        api = found;
        is_loaded = true;
        return 0;
    }
    /* A library that lacks a function is not unloaded: its threads may be running. */
    char why[512];
    snprintf(why, sizeof why, "%s", assay_last_error());
    assay_error("OpenBLAS cannot be loaded: %s", why);
    return ASSAY_SKIP;
}

const struct openblas *openblas_api(void)
{
    return &api;
}

/* ---------------------------------------------------------------- version -- */

static int load(void)
{
    return openblas_load() ? -1 : 0;
}

/* Name and version, the first two words of "OpenBLAS 0.3.21 DYNAMIC_ARCH ...". */
static bool version(char *out, size_t size)
{
    if (!is_loaded) return false;
    const char *text = api.config();
    const char *blank = strchr(text, ' ');
    const char *end = blank ? strchr(blank + 1, ' ') : NULL;
    snprintf(out, size, "%.*s", end ? (int)(end - text) : (int)strlen(text), text);
    return true;
}

static const struct assay_library library = {.place = ASSAY_HOST, .load = load, .version = version};
ASSAY_REGISTER_LIBRARY(library);
