/* list_suites.c - the suites there are. */
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "json_member.h"
#include "list.h"
#include "suite.h"
#include "table.h"
#include "terminal.h"
#include "text.h"

/* One line of the list; a suite with an error is listed with it. */
static void suite_line(const char *name, char *title, size_t size, int *groups)
{
    struct suite suite;
    *groups = -1;
    if (suite_read(&suite, name)) {
        snprintf(title, size, "error: %s", assay_last_error());
        return;
    }
    text_copy(title, size, suite.title);
    *groups = suite.group_count;
    suite_release(&suite);
}

int list_suites(struct json *json, const char *database)
{
    static const char *const headings[] = {"suite", ">groups", "title"};
    char(*names)[ASSAY_MAX_NAME];
    int count;
    (void)database;
    if (suite_names(&names, &count)) return -1;
    struct table table;
    table_init(&table, headings, 3);
    for (int i = 0; i < count; i++) {
        char title[1024];
        int groups;
        suite_line(names[i], title, sizeof title, &groups);
        if (json) {
            json_begin_object(json);
            json_text_member(json, "suite", names[i]);
            json_count_member(json, "groups", groups);
            json_text_member(json, "title", title);
            json_end(json);
            continue;
        }
        table_cell(&table, "%s", names[i]);
        if (groups < 0)
            table_cell(&table, "-");
        else
            table_cell(&table, "%d", groups);
        table_cell(&table, "%s", title);
    }
    free(names);
    int failed = json ? 0 : table_print(&table, stdout, terminal_columns());
    table_release(&table);
    return failed;
}
