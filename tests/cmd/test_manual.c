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

TEST(the_synopsis_stands_as_it_is)
{
    assert_becomes("usage: assay x A\n       assay x B\n", ".nf\nassay x A\nassay x B\n.fi\n");
}

TEST(two_blanks_begin_a_term)
{
    assert_becomes("  --db F   the file\n           of it\n  x  y\n",
                   ".TP\n\\fB\\-\\-db F\\fR\nthe file\nof it\n.TP\n\\fBx\\fR\ny\n");
}

TEST(an_empty_line_begins_a_paragraph)
{
    assert_becomes("one\ntwo\n\nthree\n", "one\ntwo\n.PP\nthree\n");
}

TEST(examples_are_announced)
{
    assert_becomes("example: a\n         b\n", "Example:\n.PP\n.nf\na\nb\n.fi\n");
}

TEST(what_roff_would_take_for_its_own_is_escaped)
{
    assert_becomes(".x\n'y' \\n ~^\n", "\\&.x\n\\(aqy\\(aq \\en \\(ti\\(ha\n");
}

TEST(backquotes_make_bold_also_over_the_end_of_a_line)
{
    assert_becomes("see `assay\nhelp` now\n", "see \\fBassay\nhelp\\fR now\n");
}

TEST(a_text_without_an_end_of_line_is_whole)
{
    assert_becomes("word", "word\n");
    assert_becomes("", "");
}
