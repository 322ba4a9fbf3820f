/* cmd_fleet.c - `assay fleet`: is a card slower than the others of its model? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/exit_code.h"
#include "base/out_file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cmd/options.h"
#include "export/export.h"
#include "show/show.h"
#include "store/store_fleet.h"

enum { DATE = 11 };

struct arguments {
    struct given given;
    const char *host, *gpu, *format, *output, *db;
    double threshold; /* a fraction */
    int days;
    bool all;
    struct fleet_choice choice;
    char since[DATE]; /* "2026-11-21" */
};

static int check(void *given)
{
    struct arguments *arguments = given;
    time_t since = time(NULL) - (time_t)arguments->days * 86400;
    struct tm date;
    if (arguments->days == 0) return 0;
    if (!gmtime_r(&since, &date) || !strftime(arguments->since, DATE, "%Y-%m-%d", &date))
        return assay_error("--days %d: there is no such day", arguments->days);
    arguments->choice.since = arguments->since;
    return 0;
}

static bool matches(const char *pattern, const char *text)
{
    return !pattern || text_glob(pattern, text);
}

static int write_fleet(const struct arguments *arguments, FILE *out, const struct fleet *fleet)
{
    int width = arguments->output ? TERMINAL_ENDLESS : terminal_columns();
    if (strcmp(arguments->format, "json") == 0) return fleet_print_json(out, fleet);
    if (strcmp(arguments->format, "prometheus") == 0) return export_fleet(out, fleet);
    return fleet_print(out, fleet, arguments->all, width);
}

static int save(const struct arguments *arguments, const struct fleet *fleet)
{
    struct out_file file;
    if (out_file_open(&file, arguments->output) != 0) return -1;
    return out_file_close(&file, write_fleet(arguments, file.stream, fleet));
}

static void say_nothing(const struct fleet_tally *tally)
{
    if (tally->cards == 0)
        fprintf(stderr, "assay fleet: no run of such a GPU is in the database (assay list "
                        "devices)\n");
    else
        fprintf(stderr,
                "assay fleet: no GPU could be judged: that needs the same cases by the same "
                "program on %d or more of a model\n",
                FLEET_LEAST_CARDS);
}

static int answer(const struct arguments *arguments, struct fleet *fleet,
                  struct fleet_value *values, int count)
{
    fleet->threshold = arguments->threshold;
    for (int i = 0; i < fleet->card_count; i++)
        fleet->cards[i].is_asked = matches(arguments->host, fleet->cards[i].host) &&
                                   matches(arguments->gpu, fleet->cards[i].uuid);
    if (fleet_judge(fleet, values, count) != 0) return -1;
    struct fleet_tally tally = fleet_tally(fleet);
    if (tally.exit == EXIT_NOTHING) say_nothing(&tally);
    return save(arguments, fleet) == 0 ? tally.exit : -1;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct store *store;
    struct fleet fleet;
    struct fleet_value *values;
    int count;
    if (out_file_try(arguments->output) != 0) return -1;
    if (store_open(&store, arguments->db, STORE_READ) != 0) return -1;
    int code = store_read_fleet(store, &arguments->choice, &fleet, &values, &count);
    store_close(store);
    if (code != 0) return -1;
    code = answer(arguments, &fleet, values, count);
    fleet_release(&fleet);
    free(values);
    return code;
}

static const struct command_option options[] = {
    {"host", VALUE_TEXT, "GLOB", AT(host), .help = "answer for the GPUs of these hosts only"},
    {"gpu", VALUE_TEXT, "GLOB", AT(gpu), .help = "answer for these GPUs only, by UUID"},
    {"label", VALUE_TEXT, "TEXT", AT(choice.label), .help = "only runs with this label"},
    {"suite", VALUE_TEXT, "NAME", AT(choice.suite), .help = "only runs of this suite"},
    {"days", VALUE_COUNT, "N", AT(days), .help = "only runs of the last N days", .least = 1,
     .most = 100000},
    OPTION_FILTER(VALUE_CASE, choice.filter),
    {"threshold", VALUE_FRACTION, "PCT", AT(threshold),
     .help = "how far off a GPU must be at the least (default 1)"},
    {"allow-simulated", VALUE_FLAG, .at = AT(choice.simulated), .help = "simulated devices too"},
    {"all", VALUE_FLAG, .at = AT(all), .help = "list the GPUs without a finding too"},
    OPTION_FORMAT("table json prometheus"),
    OPTION_OUTPUT("write there"),
    OPTION_DB,
    {0},
};

const struct command cmd_fleet = {
    .name = "fleet",
    .summary = "every GPU against the others of its model: slow, low clock, link, ECC",
    .options = options,
    .only = "options only",
    .about =
        "Holds the newest runs of every GPU in the database against those of the other GPUs\n"
        "of its model: the same cases by the same program under the same driver. At most one\n"
        "sweep of healthy GPUs in a hundred has a finding by its times. What a GPU says of\n"
        "itself is found too: fewer lanes of its link than it could have, another setting of\n"
        "ECC, memory errors, a lower power limit, slow-downs by the hardware; and answers that\n"
        "are wrong on it and right on others. Times are judged where six or more GPUs of a\n"
        "model have the case. Launches of gates do not count.\n",
    .notes = "In a prolog of a job, --host \"$(hostname)\" answers for the GPUs of the node.\n",
    .examples = "assay fleet --all\n"
                "assay fleet --host node07 --format json\n"
                "assay fleet --format prometheus -o fleet.prom",
    .exit = "0 nothing was found, 1 a GPU has a finding, 2 usage, 4 no GPU was judged, 5 a case "
            "is lost on a GPU and not on others.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.format = "table", .threshold = FLEET_THRESHOLD},
    .check = check,
    .run = run,
};
