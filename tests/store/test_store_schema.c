/* test_store_schema.c - docs/schema.md and the schema say the same. */
#include "tests/store_fixture.h"

static char *read_docs(void)
{
    FILE *file = fopen("docs/schema.md", "r"); /* tests run in the root of the repository */
    if (!file) fail_msg("docs/schema.md cannot be read from here");
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The text between "### `name`" and the next heading, by malloc. */
static char *section(const char *docs, const char *name)
{
    char heading[80];
    snprintf(heading, sizeof heading, "\n### `%s`\n", name);
    const char *begin = strstr(docs, heading);
    if (!begin) fail_msg("docs/schema.md has no section on %s", name);
    begin += strlen(heading);
    const char *end = strstr(begin, "\n## "), *next = strstr(begin, "\n### ");
    if (!end || (next && next < end)) end = next;
    return end ? strndup(begin, (size_t)(end - begin)) : strdup(begin);
}

OPEN_STORE_TEST(every_column_is_named_in_the_docs)
{
    struct query query;
    char *docs = read_docs();
    int columns = 0;
    query_open(&query, store, "read the schema",
               "SELECT s.name AS owner, c.name FROM sqlite_schema s, pragma_table_info(s.name) c"
               " WHERE s.type IN ('table', 'view')");
    for (; query_step(&query) == 1; columns++) {
        char table[64], column[64], quoted[72];
        column_text(&query, "owner", table, sizeof table);
        column_text(&query, "name", column, sizeof column);
        snprintf(quoted, sizeof quoted, "`%s`", column);
        char *text = section(docs, table);
        if (!strstr(text, quoted)) fail_msg("docs/schema.md does not name %s.%s", table, column);
        free(text);
    }
    FINE(query_close(&query));
    assert_true(columns > 150);
    free(docs);
}

OPEN_STORE_TEST(every_column_of_the_docs_is_in_the_schema)
{
    struct query query;
    char *docs = read_docs();
    query_open(&query, store, "read the schema",
               "SELECT s.name AS owner, group_concat('`' || c.name || '`') AS columns"
               " FROM sqlite_schema s, pragma_table_info(s.name) c WHERE s.type = 'table'"
               " GROUP BY s.name");
    while (query_step(&query) == 1) {
        char table[64], columns[4096], *save = NULL;
        column_text(&query, "owner", table, sizeof table);
        column_text(&query, "columns", columns, sizeof columns);
        char *text = section(docs, table);
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            char name[64];
            if (sscanf(line, "| %63[`a-z0-9_] |", name) != 1 || *name != '`') continue;
            if (!strstr(columns, name)) fail_msg("there is no column %s.%s", table, name);
        }
        free(text);
    }
    FINE(query_close(&query));
    free(docs);
}

STORE_TEST(the_docs_name_the_version)
{
    char words[64], *docs = read_docs();
    snprintf(words, sizeof words, "Schema version: %d (", store_version);
    assert_non_null(strstr(docs, words));
    free(docs);
}
