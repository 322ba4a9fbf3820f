/* cmd_claims.c - `assay claims`: what documents said against what runs say. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/out_file.h"
#include "base/terminal.h"
#include "claims/claim_ledger.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/run_set.h"

const char usage_claims[] =
    "usage: assay claims [RUN...] [--format table|md|json] [-o FILE] [--claims FILE.ini]\n"
    "                    [--db FILE]\n"
    "\n"
    "Each claim of suites/claims.ini: what a document said, what was measured here, and\n"
    "the verdict. `assay run claims` measures exactly what they need.\n"
    "\n"
    "  HOLDS               the figure is in the claimed range (docs/claims.md: how wide)\n"
    "  HOLDS IN DIRECTION  the claimed side of 1, but another size\n"
    "  DOES NOT HOLD       no difference, the other direction, or another value\n"
    "  NOT COMPARABLE      a verdict would say nothing; the line says why\n"
    "  NOT MEASURED        no run has the cases\n"
    "\n"
    "RUN is an id or its beginning, a label, latest or latest~N; FILE.sqlite:RUN takes it\n"
    "from another database. Without RUN: the latest run of each suite on the device of\n"
    "the latest run. Both cases of a claim always come from one run.\n"
    "\n"
    "  --format NAME    table (default), md or json\n"
    "  -o, --output F   write there\n"
    "  --claims FILE    another file of claims, or its name\n"
    "  --db FILE        the database (default: ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay run claims && assay claims\n"
    "\n"
    "Exit: 0 fine (whatever the verdicts), 2 usage, 4 no claim was measured.\n";

const struct option options_claims[] = {
    {"format", required_argument, NULL, 'f'}, {"output", required_argument, NULL, 'o'},
    {"claims", required_argument, NULL, 'c'}, {"db", required_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},         {0},
};

struct arguments {
    const char *db, *file, *output;
    struct claim_options show;
};

static int parse(int argc, char **argv, struct arguments *arguments)
{
    int option;
    optind = 0; /* start anew: main has parsed its own */
    while ((option = getopt_long(argc, argv, ":o:", options_claims, NULL)) != -1) {
        switch (option) {
        case 'f':
            arguments->show.format = optarg;
            if (!claim_knows_format(optarg)) return -1;
            break;
        case 'o':
            arguments->output = optarg;
            break;
        case 'c':
            arguments->file = optarg;
            break;
        case 'd':
            arguments->db = optarg;
            break;
        case 'h':
            return 1;
        default:
            return option_misused(argv, option, options_claims);
        }
    }
    return 0;
}

static int write_ledger(const struct arguments *arguments, const struct claims *claims,
                        const struct run_set *set, int *code)
{
    struct claim_ledger ledger;
    struct out_file file;
    if (claim_ledger_make(&ledger, claims, set->view, set->count)) return -1;
    int status = out_file_open(&file, arguments->output);
    if (status == 0)
        status = out_file_close(&file, claim_ledger_write(file.stream, &ledger, set->view,
                                                          set->count, &arguments->show));
    int settled = ledger.verdicts[CLAIM_HOLDS] + ledger.verdicts[CLAIM_IN_DIRECTION] +
                  ledger.verdicts[CLAIM_FAILS];
    *code = settled ? EXIT_FINE : EXIT_NOTHING;
    claim_ledger_release(&ledger);
    return status;
}

int cmd_claims(int argc, char **argv)
{
    struct arguments arguments = {.file = "claims",
                                  .show = {.format = "table", .width = terminal_columns()}};
    struct claims claims = {0};
    int code = EXIT_FINE, parsed = parse(argc, argv, &arguments);
    if (parsed > 0) {
        fputs(usage_claims, stdout);
        return EXIT_FINE;
    }
    if (parsed < 0) return command_misused(argv[0], assay_last_error());
    struct run_set *set = calloc(1, sizeof *set);
    if (!set) assay_error("out of memory");
    if (!set || claims_read(&claims, arguments.file) ||
        run_set_read(set, argv + optind, argc - optind, arguments.db) ||
        write_ledger(&arguments, &claims, set, &code))
        code = command_failed(argv[0]);
    if (set) run_set_release(set);
    free(set);
    claims_release(&claims);
    return code;
}
