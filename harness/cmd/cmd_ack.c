/* cmd_ack.c - `assay ack`: a slowdown that somebody knows of. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "cmd/options.h"
#include "store/store_gate.h"

struct arguments {
    struct given given;
    const char *db, *reason, *until, *commit;
    double up_to; /* a fraction; NAN: not said */
    bool list, drop;
    struct ack ack;
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

static int take_date(struct arguments *arguments)
{
    const char *text = arguments->until;
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

static int copy(char *out, size_t size, const char *what, const char *text)
{
    if (!text) return 0;
    return text_copy(out, size, text) == 0 ? 0 : assay_error("the %s is too long", what);
}

static int check_new(struct arguments *arguments)
{
    struct ack *ack = &arguments->ack;
    if (!arguments->reason || !arguments->reason[0]) return assay_error("why? (--reason TEXT)");
    if (!arguments->until) return assay_error("until when? (--until YYYY-MM-DD)");
    ack->up_to = 1 + arguments->up_to;
    return take_date(arguments) ||
           copy(ack->reason, sizeof ack->reason, "reason", arguments->reason) ||
           copy(ack->commit, sizeof ack->commit, "commit", arguments->commit) ||
           copy(ack->pattern, sizeof ack->pattern, "pattern", arguments->given.word[0]);
}

static int check(void *given)
{
    struct arguments *arguments = given;
    bool is_new = !arguments->list && !arguments->drop;
    const char *of_new = option_given(given, "reason until up-to commit");
    if (arguments->list && arguments->drop) return assay_error("--list or --drop, not both");
    if (!is_new && of_new)
        return assay_error("--%s is for a new ack, not for --%s", of_new,
                           arguments->list ? "list" : "drop");
    if (arguments->list) return arguments->given.count ? assay_error("--list wants no pattern") : 0;
    if (arguments->given.count != 1) return assay_error("which cases? (one pattern)");
    return is_new ? check_new(arguments) : 0;
}

/* It is kept all the same: the case may come with the next commit. */
static int set_ack(struct store *store, const struct ack *ack, const char *db)
{
    char hint[TEXT_HINT];
    int matches = store_hint_case(store, ack->pattern, hint);
    if (matches < 0 || store_set_ack(store, ack) != 0) return -1;
    if (matches == 0)
        fprintf(stderr, "assay ack: no case of %s matches '%s'%s so far\n", db, ack->pattern, hint);
    return 0;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct store *store;
    if (arguments->is_past)
        fprintf(stderr, "assay ack: %s has come: this holds for no gate any more\n",
                arguments->until);
    enum store_mode mode = arguments->list   ? STORE_READ
                           : arguments->drop ? STORE_CHANGE
                                             : STORE_WRITE;
    if (store_open(&store, arguments->db, mode) != 0) return -1;
    int status = arguments->list   ? store_each_ack(store, print_ack, NULL)
                 : arguments->drop ? store_drop_ack(store, arguments->given.word[0])
                                   : set_ack(store, &arguments->ack, arguments->db);
    store_close(store);
    return status ? -1 : EXIT_FINE;
}

static const struct command_option options[] = {
    {"reason", VALUE_TEXT, "TEXT", AT(reason), .help = "why"},
    {"until", VALUE_TEXT, "DATE", AT(until), .help = "the first day on which it no longer holds"},
    {"up-to", VALUE_FRACTION, "PCT", AT(up_to),
     .help = "only as long as the case is at most this much slower"},
    {"commit", VALUE_TEXT, "ID", AT(commit), .help = "the commit that brought it"},
    {"list", VALUE_FLAG, .at = AT(list), .help = "print what is acknowledged"},
    {"drop", VALUE_FLAG, .at = AT(drop), .help = "acknowledge PATTERN no longer"},
    OPTION_DB,
    {0},
};

const struct command cmd_ack = {
    .name = "ack",
    .summary = "take a known slowdown on for a while",
    .options = options,
    .words = {{"PATTERN", .kind = VALUE_CASE}},
    .most = ANY_NUMBER,
    .synopsis = "PATTERN --reason TEXT --until YYYY-MM-DD [options]\n"
                "--list [--db FILE]\n"
                "PATTERN --drop [--db FILE]",
    .about = "Takes a slowdown on for a while: the gate still reports it, with the reason, and\n"
             "does not fail for it. PATTERN is a case as it is printed,\n"
             "\"operation/variant shape temperature\"; each of its words may be a glob, and\n"
             "those behind the first may be left out. A wrong answer, a crash or a missing\n"
             "case cannot be acknowledged; one whose work the candidate redefines can, without\n"
             "--up-to. A pattern that no case of the database matches so far is kept, with a\n"
             "warning.\n",
    .exit = "0 fine, 2 usage, or nothing to drop.",
    .examples =
        "assay ack 'int8_quantize/best *' --reason rounding --until $(date -d +30days +%F)\n"
        "assay ack --list",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.up_to = NAN},
    .check = check,
    .run = run,
};
