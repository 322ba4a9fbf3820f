/* test_options.c - what is typed, by a table of options. */
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "cmd/options.h"

struct arguments {
    struct given given;
    bool flag, no_flag;
    int count;
    double seconds, percent, fraction;
    uint64_t seed;
    const char *format, *db, *output;
};

static const struct command_option options[] = {
    {"flag", VALUE_FLAG, .at = AT(flag)},
    {"no-flag", VALUE_NO_FLAG, .at = AT(no_flag), .with = "flag"},
    {"count", VALUE_COUNT, "N", .at = AT(count), .least = 5, .most = 2000},
    {"seconds", VALUE_SECONDS, "S", .at = AT(seconds)},
    {"percent", VALUE_PERCENT, "PCT", .at = AT(percent)},
    {"fraction", VALUE_FRACTION, "PCT", .at = AT(fraction)},
    {"seed", VALUE_SEED, "N", .at = AT(seed)},
    OPTION_FORMAT("table md json"),
    OPTION_OUTPUT("write there"),
    OPTION_DB,
    {0},
};

static const struct command command = {
    .name = "x", .options = options, .least = 1, .most = 2, .which = "which?", .only = "two only"};

/* Parse the words of `line`, which are kept there. */
static int parse(char *line, struct arguments *arguments)
{
    static char *words[32];
    int count = 0;
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    *arguments = (struct arguments){.no_flag = true};
    return options_parse(&command, count, words, arguments);
}

TEST(values_go_where_the_table_says)
{
    char line[] = "x --flag --no-flag one --count 1k --seconds=0.5 --percent 2.5 --fraction 2.5 "
                  "--seed 0x10 --format md -o out two";
    struct arguments got;
    assert_int_equal(parse(line, &got), 0);
    assert_true(got.flag);
    assert_false(got.no_flag);
    assert_int_equal(got.count, 1000);
    assert_true(got.seconds == 0.5 && got.percent == 2.5 && got.fraction == 0.025);
    assert_int_equal(got.seed, 16);
    assert_string_equal(got.format, "md");
    assert_string_equal(got.output, "out");
    assert_int_equal(got.given.count, 2);
    assert_string_equal(got.given.word[0], "one");
    assert_string_equal(got.given.word[1], "two");
    assert_null(got.given.word[2]);
    assert_string_equal(option_given(&got.given, "db seed flag"), "seed");
    assert_null(option_given(&got.given, "db"));
}

TEST(the_database_is_the_environments_unless_told)
{
    char without[] = "x a", with[] = "x a --db mine";
    struct arguments got;
    setenv("ASSAY_DB", "theirs", 1);
    assert_int_equal(parse(without, &got), 0);
    assert_string_equal(got.db, "theirs");
    assert_int_equal(parse(with, &got), 0);
    assert_string_equal(got.db, "mine");
    setenv("ASSAY_DB", "", 1);
    assert_string_equal(database_default(NULL), "results/assay.sqlite");
}

TEST(what_is_wrong_is_named)
{
    static const struct {
        const char *line, *message;
    } wrong[] = {
        {"x", "which?"},
        {"x a b c", "two only, not 'c' too"},
        {"x a --count 4", "--count wants a whole number from 5 to 2000, not '4'"},
        {"x a --count 2001", "--count wants a whole number from 5 to 2000, not '2001'"},
        {"x a --count 7.5", "--count wants a whole number from 5 to 2000, not '7.5'"},
        {"x a --seconds 0", "--seconds wants seconds above 0, not '0'"},
        {"x a --seconds nan", "--seconds wants seconds above 0, not 'nan'"},
        {"x a --seconds inf", "--seconds wants seconds above 0, not 'inf'"},
        {"x a --seconds 1s", "--seconds wants seconds above 0, not '1s'"},
        {"x a --fraction 1001", "--fraction wants a percentage above 0, not '1001'"},
        {"x a --seed -1", "--seed wants a whole number, not '-1'"},
        {"x a --format jsno", "--format: unknown format 'jsno' (did you mean 'json'?)"},
        {"x a --format xml", "--format: unknown format 'xml' (table, md or json)"},
        {"x a --no-flag", "--no-flag is for --flag alone"},
        {"x a --fromat md", "unknown option '--fromat'; did you mean --format?"},
        {"x a --zzzzzz", "unknown option '--zzzzzz'"},
        {"x a -z", "unknown option '-z'"},
        {"x a --flag=1", "--flag takes no value"},
        {"x a --db", "--db needs a value"},
        {"x a -o", "-o needs a value"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct arguments got;
        char line[128];
        strcpy(line, wrong[i].line);
        assert_int_equal(parse(line, &got), -1);
        assert_string_equal(assay_last_error(), wrong[i].message);
    }
}

TEST(help_may_be_cut_short_too)
{
    char line[] = "x --hel";
    struct arguments got;
    assert_int_equal(parse(line, &got), 1);
}
