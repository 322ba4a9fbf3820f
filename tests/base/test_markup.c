/* test_markup.c - what a print with escaped texts knows, and what it escapes. */

#include <stdlib.h>

#include "tests/test.h"
#include "base/markup.h"

#define ASSERT_PRINTS(expected, print, ...)                                                        \
    do {                                                                                           \
        char *text;                                                                                \
        size_t size;                                                                               \
        FILE *out = open_memstream(&text, &size);                                                  \
        assert_non_null(out);                                                                      \
        print(out, __VA_ARGS__);                                                                   \
        fclose(out);                                                                               \
        assert_string_equal(text, expected);                                                       \
        free(text);                                                                                \
    } while (0)

TEST(texts_are_escaped_and_the_format_is_not)
{
    ASSERT_PRINTS("| a\\|b | <c> |", md_print, "| %s | <c> |", "a|b");
    ASSERT_PRINTS("<td>a&lt;b&gt; &amp; &quot;</td>", xml_print, "<td>%s</td>", "a<b> & \"");
    ASSERT_PRINTS("int8_quantize \\_x line end", md_print, "%s", "int8_quantize _x line\nend");
    ASSERT_PRINTS("a?b?", xml_print, "%s", "a\001b\xff");
}

TEST(figures_are_as_printf_has_them)
{
    ASSERT_PRINTS("7, 0.25, 1e+20, x, 4000000000, 12.5 %|", md_print,
                  "%d, %.2f, %.3g, %c, %lld, %g %%|", 7, 0.25, 1e20, 'x', 4000000000LL, 12.5);
}

TEST(a_precision_cuts_a_text_before_it_is_escaped)
{
    ASSERT_PRINTS("[&lt;b] 2", xml_print, "[%.2s] %d", "<b>", 2);
}

TEST(an_empty_text_prints_nothing)
{
    ASSERT_PRINTS("||", md_print, "|%s|", "");
}

TEST(no_document_in_a_page_ends_its_element)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    markup_script(out, "{\"a\": \"</script><!--\"}");
    fclose(out);
    assert_string_equal(text, "{\"a\": \"\\u003c/script>\\u003c!--\"}");
    free(text);
}
