/* cmd_ack.c - `assay ack`: a slowdown that somebody knows of. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/report_options.h"
#include "store/store_gate.h"

const char usage_ack[] =
    "usage: assay ack PATTERN --reason TEXT --until YYYY-MM-DD [--up-to PCT]\n"
    "                 [--commit ID] [--db FILE]\n"
    "       assay ack --list [--db FILE]\n"
    "       assay ack PATTERN --drop [--db FILE]\n"
    "\n"
    "Takes a slowdown on for a while: the gate still reports it, with the reason, and does\n"
    "not fail for it. PATTERN is a case as it is printed, \"operation/variant shape\n"
    "temperature\"; each of its words may be a glob, and those behind the first may be left out.\n"
    "A wrong answer, a crash or a missing case cannot be acknowledged.\n"
    "\n"
    "  --reason TEXT  why\n"
    "  --until DATE   the first day on which it no longer holds\n"
    "  --up-to PCT    only as long as the case is at most so much slower\n"
    "  --commit ID    which commit brought it\n"
    "\n"
    "example: assay ack 'int8_quantize/best *' --reason rounding --until $(date -d +30days +%F)\n"
    "         assay ack --list\n";

const struct option options_ack[] = {
    {"reason", required_argument, NULL, 'r'},
    {"until", required_argument, NULL, 'u'},
    {"up-to", required_argument, NULL, 'p'},
    {"commit", required_argument, NULL, 'c'},
    {"list", no_argument, NULL, 'l'},
    {"drop", no_argument, NULL, 'x'},
    {"db", required_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

struct arguments {
    struct ack ack;
    const char *db, *pattern;
    const char *of_new; /* an option that only a new ack has; NULL: none was given */
    bool list, drop;
    bool is_past; /* the end of the ack */
};

static int print_ack(const struct ack *ack, void *context)
{
    (void)context;
    printf("%-40s  %s%.10s  %s\n", ack->pattern, ack->expired ? "EXPIRED " : "until ",
           ack->expires_at, ack->reason);
    return 0;
}

/* Whether the calendar has that day: it is another one where timegm had to carry. */
static bool is_a_day(int year, int month, int day, time_t *at)
{
    struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    *at = timegm(&tm);
    return tm.tm_year == year - 1900 && tm.tm_mon == month - 1 && tm.tm_mday == day;
}

static int take_date(struct arguments *arguments, const char *text)
{
    int year, month, day, used = 0;
    time_t at;
    struct ack *ack = &arguments->ack;
    if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &used) != 3 || used != 10 || text[10])
        return assay_error("--until wants YYYY-MM-DD, not '%s'", text);
    if (!is_a_day(year, month, day, &at))
        return assay_error("--until %s: there is no such day", text);
    arguments->is_past = at <= time(NULL);
    snprintf(ack->expires_at, sizeof ack->expires_at, "%sT00:00:00.000Z", text);
    return 0;
}

static int take_level(struct ack *ack, const char *text)
{
    double fraction;
    if (option_percent("up-to", text, &fraction) != 0) return -1;
    ack->up_to = 1 + fraction;
    return 0;
}

static int copy(char *out, size_t size, const char *what, const char *text)
{
    return text_copy(out, size, text) == 0 ? 0 : assay_error("the %s is too long", what);
}

static int take(struct arguments *arguments, int option)
{
    struct ack *ack = &arguments->ack;
    switch (option) {
    case 'r':
        return copy(ack->reason, sizeof ack->reason, "reason", optarg);
    case 'c':
        return copy(ack->commit, sizeof ack->commit, "commit", optarg);
    case 'u':
        return take_date(arguments, optarg);
    case 'p':
        return take_level(ack, optarg);
    case 'l':
        arguments->list = true;
        return 0;
    case 'x':
        arguments->drop = true;
        return 0;
    default:
        arguments->db = optarg;
        return 0;
    }
}

static int check(struct arguments *arguments, char **words, int count)
{
    if (arguments->list && arguments->drop) return assay_error("--list or --drop, not both");
    if ((arguments->list || arguments->drop) && arguments->of_new)
        return assay_error("--%s is for a new ack, not for --%s", arguments->of_new,
                           arguments->list ? "list" : "drop");
    if (arguments->list) return count ? assay_error("--list wants no pattern") : 0;
    if (count != 1) return assay_error("which cases? (one pattern)");
    arguments->pattern = words[0];
    if (arguments->drop) return 0;
    if (!arguments->ack.reason[0]) return assay_error("why? (--reason TEXT)");
    if (!arguments->ack.expires_at[0]) return assay_error("until when? (--until YYYY-MM-DD)");
    return copy(arguments->ack.pattern, sizeof arguments->ack.pattern, "pattern", words[0]);
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
    int option, index = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options_ack, &index)) != -1) {
        if (option == 'h') return 1;
        if (option == '?' || option == ':') return option_misused(argv, option, options_ack);
        if (strchr("rupc", option)) arguments->of_new = options_ack[index].name;
        if (take(arguments, option) != 0) return -1;
    }
    return check(arguments, argv + optind, argc - optind);
}

int cmd_ack(int argc, char **argv)
{
    struct arguments arguments = {.ack = {.up_to = NAN}};
    struct store *store;
    int parsed = parse(argc, argv, &arguments);
    if (parsed > 0) {
        fputs(usage_ack, stdout);
        return EXIT_FINE;
    }
    if (parsed < 0) return command_misused(argv[0], assay_last_error());
    if (arguments.is_past)
        fprintf(stderr, "assay ack: %.10s has come: this holds for no gate any more\n",
                arguments.ack.expires_at);
    enum store_mode mode = arguments.list   ? STORE_READ
                           : arguments.drop ? STORE_CHANGE
                                            : STORE_WRITE;
    if (store_open(&store, command_database(arguments.db), mode) != 0)
        return command_failed(argv[0]);
    int status = arguments.list   ? store_each_ack(store, print_ack, NULL)
                 : arguments.drop ? store_drop_ack(store, arguments.pattern)
                                  : store_set_ack(store, &arguments.ack);
    store_close(store);
    return status == 0 ? EXIT_FINE : command_failed(argv[0]);
}
