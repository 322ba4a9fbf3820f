/* test_table.c - the rules of aligned columns. */
#include <stdlib.h>

#include "tests/test.h"
#include "base/table.h"

static void expect_as(bool is_md, const char *const *cells, int count, int width,
                      const char *expected)
{
    static const char *const headings[] = {"name", ">n", "text"};
    struct table table;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    table_init(&table, headings, 3);
    table.is_md = is_md;
    for (int i = 0; i < count; i++)
        table_cell(&table, "%s", cells[i]);
    assert_int_equal(table_print(&table, out, width), 0);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void expect(const char *const *cells, int count, int width, const char *expected)
{
    expect_as(false, cells, count, width, expected);
}

TEST(columns_are_as_wide_as_their_widest_cell)
{
    const char *const cells[] = {"a", "1", "x", "bbbbb", "100", ""};
    expect(cells, 6, 80,
           "name     n  text\n"
           "a        1  x\n"
           "bbbbb  100  \n");
}

TEST(a_character_of_several_bytes_takes_one_column)
{
    const char *const cells[] = {"\xc2\xb5\xc2\xb5\xc2\xb5\xc2\xb5\xc2\xb5", "1", "x"};
    expect(cells, 3, 80,
           "name   n  text\n"
           "\xc2\xb5\xc2\xb5\xc2\xb5\xc2\xb5\xc2\xb5  1  x\n");
}

TEST(markdown_has_the_same_cells_and_no_width)
{
    const char *const cells[] = {"a", "1", "a cell | of several words"};
    expect_as(true, cells, 3, 20,
              "| name | n | text |\n"
              "|:--|--:|:--|\n"
              "| a | 1 | a cell \\| of several words |\n");
}

TEST(the_last_column_goes_on_below_itself)
{
    const char *const cells[] = {"a", "1", "sixteen columns, and then some more_than_that_in_one"};
    expect(cells, 3, 25,
           "name  n  text\n"
           "a     1  sixteen columns,\n"
           "         and then some\n"
           "         more_than_that_i\n"
           "         n_one\n");
}

TEST(the_last_column_stands_below_where_the_others_leave_too_little)
{
    const char *const cells[] = {"a", "1", "two words and more"};
    expect(cells, 3, 20,
           "name  n\n"
           "    text\n"
           "a     1\n"
           "    two words and\n"
           "    more\n");
}
