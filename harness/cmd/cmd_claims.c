/* cmd_claims.c - `assay claims`: what documents said against what runs say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/out_file.h"
#include "base/terminal.h"
#include "claims/claim_ledger.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "store/store_central.h"

struct arguments {
    struct given given;
    const char *db, *file, *filter, *output, *format;
};

enum { RUN_SET_MAX = 64 };

struct run_set {
    int count;
    struct stored_run run[RUN_SET_MAX];
    struct view view[RUN_SET_MAX];
};

static int add_run(struct run_set *set, const char *spec, const char *db)
{
    struct stored_run *run = &set->run[set->count];
    if (set->count == RUN_SET_MAX) return assay_error("more than %d runs", RUN_SET_MAX);
    if (run_choice_read(run, false, spec, db)) return -1;
    if (view_make(&set->view[set->count], run)) {
        stored_run_release(run);
        return -1;
    }
    set->count++;
    return 0;
}

struct latest {
    char device[RESULT_MAX_PROPERTY];
    char id[RUN_SET_MAX][STORE_ID], suite[RUN_SET_MAX][ASSAY_MAX_NAME];
    int count, seen;
};

/* Newest first: the first of a suite is its latest. */
static int take_latest(const struct run_line *line, void *context)
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
    char shown[STORE_SHOWN];
    if (store_open(&store, db, STORE_READ)) return -1;
    int failed = store_each_run(store, true, take_latest, &latest);
    store_close(store);
    if (!failed && !latest.count)
        failed = assay_error("%s: there is no run in it (launches of gates are not counted)",
                             store_shown(db, shown));
    for (int i = 0; i < latest.count && !failed; i++)
        failed = add_run(set, latest.id[i], db);
    return failed;
}

/* In the order of `specs`; of none, the latest of each suite on the device of the latest run. */
static int run_set_read(struct run_set *set, char *const *specs, int count, const char *db)
{
    int failed = 0;
    for (int i = 0; i < count && !failed; i++)
        failed = add_run(set, specs[i], db);
    if (count == 0) failed = add_latest(set, db);
    return failed;
}

static void run_set_release(struct run_set *set)
{
    for (int i = 0; i < set->count; i++) {
        view_release(&set->view[i]);
        stored_run_release(&set->run[i]);
    }
    set->count = 0;
}

static int write_ledger(const struct arguments *arguments, const struct claims *claims,
                        const struct run_set *set)
{
    struct claim_ledger ledger;
    struct out_file file;
    if (claim_ledger_make(&ledger, claims, set->view, set->count)) return -1;
    int status = out_file_open(&file, arguments->output);
    if (status == 0)
        status = out_file_close(
            &file, claim_ledger_write(file.stream, &ledger, arguments->format, terminal_columns()));
    int settled = ledger.verdicts[CLAIM_HOLDS] + ledger.verdicts[CLAIM_IN_DIRECTION] +
                  ledger.verdicts[CLAIM_FAILS];
    claim_ledger_release(&ledger);
    if (status != 0) return -1;
    return settled ? EXIT_FINE : EXIT_NOTHING;
}

/* Whether a filter leaves none of them: the exit code is then in *code. */
static bool none_selected(const struct arguments *arguments, struct claims *claims, int *code)
{
    if (!arguments->filter || claims_select(claims, arguments->filter) > 0) return false;
    fprintf(stderr, "assay claims: no claim is of a case that matches '%s'\n", arguments->filter);
    *code = EXIT_NOTHING;
    return true;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct claims claims = {0};
    struct run_set *set = calloc(1, sizeof *set);
    int code = -1;
    if (!set) return assay_error("out of memory");
    if (!claims_read(&claims, arguments->file) && !none_selected(arguments, &claims, &code) &&
        !run_set_read(set, arguments->given.word, arguments->given.count, arguments->db))
        code = write_ledger(arguments, &claims, set);
    run_set_release(set);
    free(set);
    claims_release(&claims);
    return code;
}

static const struct command_option options[] = {
    OPTION_FORMAT("table md json"),
    OPTION_OUTPUT("write there"),
    OPTION_FILTER(VALUE_CASE, filter),
    {"claims", VALUE_FILE, "FILE", AT(file), .help = "another file of claims, or its name"},
    OPTION_DB,
    {0},
};

const struct command cmd_claims = {
    .name = "claims",
    .summary = "what the documents said, what was measured, and the verdict",
    .options = options,
    .words = {{"RUN", .kind = VALUE_RUN}},
    .most = ANY_NUMBER,
    .about = "Prints each claim of suites/claims.ini: what a document said, what was measured\n"
             "here, and the verdict. `assay run claims` measures exactly what they need.\n"
             "\n"
             "  HOLDS               the figure is in the claimed range (docs/claims.md)\n"
             "  HOLDS WITHIN 2X     the claimed side of 1, half to twice the effect\n"
             "  HOLDS IN DIRECTION  the claimed side of 1, but another size\n"
             "  DOES NOT HOLD       no difference, the other direction, or another value\n"
             "  NOT COMPARABLE      a verdict would say nothing; the line says why\n"
             "  NOT MEASURED        no run has the cases\n"
             "\n"
             "RUN is an id or its beginning, a label, latest or latest~N; FILE.sqlite:RUN\n"
             "takes it from another database. Without RUN: the latest run of each suite on the\n"
             "device of the latest run. Both cases of a claim always come from one run.\n",
    .examples = "assay run claims && assay claims",
    .exit = "0 fine (whatever the verdicts), 2 usage, 4 no claim was measured, or none is of a "
            "case that matches.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.format = "table", .file = "claims"},
    .run = run,
};
