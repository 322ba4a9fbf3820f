/* test_manual.c - help texts as man macros. */
#include <stdlib.h>

#include "tests/test.h"
#include "cmd/help.h"

/* What `text` becomes. */
static void assert_becomes(const char *text, const char *expected)
{
    char *got = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&got, &size);
    assert_non_null(out);
    manual_text(out, text);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(got, expected);
    free(got);
}

static void the_synopsis_stands_as_it_is(void **state)
{
    assert_becomes("usage: assay x A\n       assay x B\n", ".nf\nassay x A\nassay x B\n.fi\n");
}

static void two_blanks_begin_a_term(void **state)
{
    assert_becomes("  --db F   the file\n           of it\n  x  y\n",
                   ".TP\n\\fB\\-\\-db F\\fR\nthe file\nof it\n.TP\n\\fBx\\fR\ny\n");
}

static void an_empty_line_begins_a_paragraph(void **state)
{
    assert_becomes("one\ntwo\n\nthree\n", "one\ntwo\n.PP\nthree\n");
}

static void examples_are_announced(void **state)
{
    assert_becomes("example: a\n         b\n", "Example:\n.PP\n.nf\na\nb\n.fi\n");
}

static void what_roff_would_take_for_its_own_is_escaped(void **state)
{
    assert_becomes(".x\n'y' \\n ~^\n", "\\&.x\n\\(aqy\\(aq \\en \\(ti\\(ha\n");
}

static void backquotes_make_bold_also_over_the_end_of_a_line(void **state)
{
    assert_becomes("see `assay\nhelp` now\n", "see \\fBassay\nhelp\\fR now\n");
}

static void a_text_without_an_end_of_line_is_whole(void **state)
{
    assert_becomes("word", "word\n");
    assert_becomes("", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_synopsis_stands_as_it_is),
        cmocka_unit_test(two_blanks_begin_a_term),
        cmocka_unit_test(an_empty_line_begins_a_paragraph),
        cmocka_unit_test(examples_are_announced),
        cmocka_unit_test(what_roff_would_take_for_its_own_is_escaped),
        cmocka_unit_test(backquotes_make_bold_also_over_the_end_of_a_line),
        cmocka_unit_test(a_text_without_an_end_of_line_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
