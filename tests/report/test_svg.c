/* test_svg.c - a picture inside a page cannot act and shares no ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "report/svg.h"

static void only_the_element_is_kept(void **state)
{
    (void)state;
    char *svg = svg_inline("<?xml version=\"1.0\"?>\n<svg width=\"3\"><g/></svg>\n", "p0-");
    assert_string_equal(svg,
                        "<svg aria-hidden=\"true\" focusable=\"false\" width=\"3\"><g/></svg>");
    free(svg);
}

static void ids_and_references_get_the_prefix(void **state)
{
    (void)state;
    char *svg = svg_inline("<svg><path id='a'/><use xlink:href='#a' clip-path=\"url(#b)\"/>"
                           "<text>url(#c)</text></svg>",
                           "p1-");
    assert_non_null(strstr(svg, "id='p1-a'"));
    assert_non_null(strstr(svg, "href='#p1-a'"));
    assert_non_null(strstr(svg, "url(#p1-b)"));
    assert_non_null(strstr(svg, ">url(#c)<"));
    free(svg);
}

static void blanks_stand_where_xml_has_them(void **state)
{
    (void)state;
    char *svg = svg_inline("<svg\n width = '3'\n><path fill = \"red\" /></svg>", "p-");
    assert_non_null(svg);
    free(svg);
}

static void refuse(const char *text)
{
    assay_clear_error();
    char *svg = svg_inline(text, "p-");
    if (svg) fail_msg("taken: %s", text);
    assert_true(assay_last_error()[0] != '\0');
}

static void what_could_act_is_refused(void **state)
{
    (void)state;
    refuse("<svg><script>1</script></svg>");
    refuse("<svg><SCRIPT>1</SCRIPT></svg>");
    refuse("<svg onload=\"x()\"></svg>");
    refuse("<svg><g/onclick=x()></g></svg>");
    refuse("<svg><g ONCLICK='x()'/></svg>");
    refuse("<svg><a href='#b'>x</a></svg>");
    refuse("<svg><use xlink:href='http://x/y#z'/></svg>");
    refuse("<svg><use xlink:href='javascript:x()'/></svg>");
    refuse("<svg><use href = 'javascript:x()'/></svg>");
    refuse("<svg><foreignObject><p/></foreignObject></svg>");
    refuse("<svg><style>*{}</style></svg>");
    refuse("<svg><!-- --></svg>");
    refuse("<svg><g fill=\"red</svg>");
    /* A reader of HTML ends the tag at the first '>': the quote in a bare value opens nothing. */
    refuse("<svg><g a=b\"><script>x()</script><g c=\"/></svg>");
    refuse("<svg><g \"><script>x()</script><g \"/></svg>");
    refuse("<svg><g title=a<script></svg>");
    refuse("<svg><g title=\"a<script>\"/></svg>");
    refuse("no picture");
    refuse("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_element_is_kept),
        cmocka_unit_test(ids_and_references_get_the_prefix),
        cmocka_unit_test(blanks_stand_where_xml_has_them),
        cmocka_unit_test(what_could_act_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
