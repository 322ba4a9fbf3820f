/* cmd_history.c - `assay history`: a case over runs, and where its level changed. */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/terminal.h"
#include "base/text.h"
#include "case/case_name.h"
#include "cmd/options.h"
#include "judge/history.h"
#include "show/show.h"
#include "store/store.h"
#include "store/store_gate.h"

struct arguments {
    struct given given;
    char cases[1024]; /* the words as one pattern */
    const char *filter, *format, *db;
    int last;
};

/* Whether the reader's locale writes UTF-8; the program's own stays "C". */
static bool writes_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale) return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

static int check(void *given)
{
    struct arguments *arguments = given;
    char *const *words = arguments->given.word;
    char *cases = arguments->cases;
    if (!words[0] == !arguments->filter)
        return assay_error(words[0] ? "CASE-GLOB or --filter, not both"
                                    : "say which case, as in int8_quantize/best");
    if (!arguments->filter) arguments->filter = cases;
    for (int i = 0; words[i]; i++) {
        size_t used = strlen(cases), size = sizeof arguments->cases - used;
        if (i > 0 && !case_is_word(words[i]))
            return assay_error("'%s' is neither name=value of a shape, nor cold, hot, host or cuda",
                               words[i]);
        if ((size_t)snprintf(cases + used, size, "%s%s", used ? " " : "", words[i]) >= size)
            return assay_error("the words are too long");
    }
    return 0;
}

static int print(const struct arguments *arguments, const struct history *history)
{
    if (strcmp(arguments->format, "json") == 0) return history_print_json(stdout, history);
    if (strcmp(arguments->format, "html") == 0)
        return history_html(stdout, history, arguments->filter);
    return history_print(stdout, history, terminal_columns(), writes_utf8());
}

static int say_no_case(struct store *store, const char *filter)
{
    char hint[TEXT_HINT];
    if (store_hint_case(store, filter, hint) < 0) return -1;
    fprintf(stderr, "assay history: no case matches '%s'%s\n", filter,
            hint[0] ? hint : " (cases: assay show)");
    return EXIT_NOTHING;
}

static int show(const struct arguments *arguments, struct store *store)
{
    struct history history;
    if (history_read(&history, store, arguments->filter) != 0) return -1;
    int code = EXIT_FINE;
    if (history_analyse(&history, arguments->last) != 0 || print(arguments, &history) != 0) {
        code = -1;
    } else if (history.series_count == 0) {
        code = say_no_case(store, arguments->filter);
    }
    history_release(&history);
    return code;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct store *store;
    if (store_open(&store, arguments->db, STORE_READ) != 0) return -1;
    int code = show(arguments, store);
    store_close(store);
    return code;
}

static const struct command_option options[] = {
    OPTION_FILTER(VALUE_CASE, filter),
    OPTION_NUMBER("last", "N", last, "the newest N runs of each series only"),
    OPTION_FORMAT("table json html"),
    OPTION_DB,
    {0},
};

const struct command cmd_history = {
    .name = "history",
    .summary = "a case over runs, and where its level changed",
    .options = options,
    .words = {{"CASE-GLOB", .kind = VALUE_CASE}, {"WORD", .choices = "cold hot host cuda"}},
    .most = ANY_NUMBER,
    .synopsis = "CASE-GLOB [WORD ...] [options]\n--filter GLOB [options]",
    .about = "Shows cases over all runs of the database, one value per run (the median over\n"
             "its launches), oldest first, and where the level changed. It reports; it never\n"
             "gates.\n"
             "\n"
             "A change is a split that none of 999 shuffles of its surroundings matches (up to\n"
             "50 runs, 4 or more per level, 3 on the last): of a thousand quiet series of 85\n"
             "runs one or two show one by chance. A level of 4 runs or more that was left\n"
             "again stays in the list. With fewer than some 14 runs no change can be told. A\n"
             "border stands where device, firmware, driver, runtime, power limit, ECC, MIG,\n"
             "clock or flush changed; no test looks across it. What a run does not know of\n"
             "these is no change. Devices that take turns have a series each.\n"
             "\n"
             "  CASE-GLOB  operation/variant, or an operation for all of its variants\n"
             "  WORD       what the shape must hold (n=5000000, dtype=b*), or cold, hot, host,\n"
             "             cuda (a case as other commands print it is such words)\n",
    .examples = "assay history 'int8_quantize/*' n=5000000 cold\n"
                "assay history 'int8_quantize/*' --format html >trend.html",
    .exit = "0 fine, 2 usage, 4 no case matches.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.format = "table"},
    .check = check,
    .run = run,
};
