/* cmd_history.c - `assay history`: a case over runs, and where its level changed. */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/terminal.h"
#include "base/text.h"
#include "case/case_name.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "judge/history.h"
#include "show/history_formats.h"
#include "store/store.h"
#include "store/store_gate.h"

const char usage_history[] =
    "usage: assay history CASE-GLOB [WORD...] [--last N] [--format table|json] [--db FILE]\n"
    "\n"
    "Show cases over all runs of the database, one value a run (the median over its\n"
    "launches), oldest first, and where the level changed. It reports; it never gates.\n"
    "\n"
    "A change is a split that none of 999 shuffles of its surroundings (up to 25 runs a\n"
    "side, at least 4) matches: fewer than one quiet stretch of 50 runs in a thousand\n"
    "shows one by chance. Before some 14 runs none can be told. A border stands where device,\n"
    "firmware, driver, runtime, power limit, ECC, MIG, clock or flush changed; no test looks\n"
    "across. What a run does not know of these is no change. Devices that take turns have a\n"
    "series each.\n"
    "\n"
    "  CASE-GLOB      operation/variant, or an operation for all of its variants\n"
    "  WORD           what the shape must hold (n=5000000, dtype=b*), or cold, hot, host, cuda\n"
    "                 (a case as other commands print it is such words)\n"
    "  --last N       the newest N runs of each series only\n"
    "  --format NAME  table (default) or json\n"
    "  --db FILE      the database (default: $ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay history 'int8_quantize/*' n=5000000 cold\n"
    "\n"
    "Exit: 0 fine, 2 usage, 4 no case matches.\n";

const struct option options_history[] = {{"last", required_argument, NULL, 'n'},
                                         {"format", required_argument, NULL, 'f'},
                                         {"db", required_argument, NULL, 'd'},
                                         {"help", no_argument, NULL, 'h'},
                                         {0}};

enum { MARGIN = 4, DEFAULT_WIDTH = 80 };

struct arguments {
    char cases[1024];
    const char *format, *database;
    int last;
    bool help;
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

static int line_width(void)
{
    int columns = terminal_width(stdout, 0);
    return (columns > 2 * MARGIN ? columns : DEFAULT_WIDTH) - MARGIN;
}

static int parse_last(const char *text, int *last)
{
    int64_t value;
    if (!text_parse_count(text, &value) || value < 1 || value > INT32_MAX)
        return assay_error("--last takes a number of runs, not '%s'", text);
    *last = (int)value;
    return 0;
}

static int parse_words(int argc, char **argv, struct arguments *arguments)
{
    char *cases = arguments->cases;
    if (arguments->help) return 0;
    if (optind >= argc) return assay_error("say which case, as in int8_quantize/best");
    for (int i = optind; i < argc; i++) {
        size_t used = strlen(cases), size = sizeof arguments->cases - used;
        if (i > optind && !case_is_word(argv[i]))
            return assay_error("'%s' is neither name=value of a shape, nor cold, hot, host or cuda",
                               argv[i]);
        if ((size_t)snprintf(cases + used, size, "%s%s", used ? " " : "", argv[i]) >= size)
            return assay_error("the words are too long");
    }
    return 0;
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
    optind = 0; /* start anew: main has parsed its own */
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", options_history, NULL)) != -1;) {
        if (c == 'f')
            arguments->format = optarg;
        else if (c == 'd')
            arguments->database = optarg;
        else if (c == 'h')
            arguments->help = true;
        else if (c != 'n')
            return option_misused(argv, c, options_history);
        else if (parse_last(optarg, &arguments->last) != 0)
            return -1;
    }
    if (strcmp(arguments->format, "table") != 0 && strcmp(arguments->format, "json") != 0)
        return assay_error("unknown format '%s' (table or json)", arguments->format);
    return parse_words(argc, argv, arguments);
}

static int print(const struct arguments *arguments, const struct history *history)
{
    if (strcmp(arguments->format, "json") == 0) return history_print_json(stdout, history);
    return history_print(stdout, history, line_width(), writes_utf8());
}

static int show(const struct arguments *arguments, struct store *store)
{
    struct history history;
    if (history_read(&history, store, arguments->cases) != 0) return command_failed("history");
    int code = EXIT_FINE;
    if (history_analyse(&history, arguments->last) != 0 || print(arguments, &history) != 0) {
        code = command_failed("history");
    } else if (history.series_count == 0) {
        fprintf(stderr, "assay history: no case matches '%s' (cases: assay show)\n",
                arguments->cases);
        code = EXIT_NOTHING;
    }
    history_release(&history);
    return code;
}

int cmd_history(int argc, char **argv)
{
    struct arguments arguments = {.format = "table"};
    struct store *store;
    if (parse(argc, argv, &arguments) != 0) return command_misused("history", assay_last_error());
    if (arguments.help) {
        fputs(usage_history, stdout);
        return EXIT_FINE;
    }
    if (store_open(&store, command_database(arguments.database), STORE_READ) != 0)
        return command_failed("history");
    int code = show(&arguments, store);
    store_close(store);
    return code;
}
