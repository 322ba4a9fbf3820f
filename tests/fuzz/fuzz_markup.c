/* fuzz_markup.c - text of others in what is written: Markdown, XML, JSON alone and in a page, CSV,
 * wrapped lines. */
#include <sqlite3.h>

#include "base/json.h"
#include "base/markup.h"
#include "base/text.h"
#include "tests/fuzz/fuzz.h"

struct written {
    char *text;
    size_t size;
    FILE *out;
};

static FILE *begin(struct written *written)
{
    written->out = open_memstream(&written->text, &written->size);
    fuzz_check(written->out != NULL, "there is memory");
    return written->out;
}

/* No markup but what the format has: one element, its attribute quoted. */
static void xml(const char *text)
{
    struct written written;
    int open = 0, quotes = 0;
    xml_print(begin(&written), "<p t=\"%s\">%s</p>", text, text);
    fclose(written.out);
    for (const char *c = written.text; *c; c++) {
        open += *c == '<';
        quotes += *c == '"';
        fuzz_check(text_utf8_length(c) > 0 || ((unsigned char)*c & 0xc0) == 0x80, "XML is UTF-8");
    }
    fuzz_check(open == 2 && quotes == 2, "a text adds no markup to XML");
    free(written.text);
}

static void markdown(const char *text)
{
    struct written written;
    md_print(begin(&written), "| %s |\n", text);
    fclose(written.out);
    fuzz_check(strchr(written.text, '\n') == written.text + written.size - 1,
               "a cell of Markdown is one line");
    free(written.text);
}

static void command(const char *text)
{
    struct written written;
    markup_command(begin(&written), text, 1);
    fclose(written.out);
    fuzz_check(!strpbrk(written.text, "\r\n:,"), "a property of a workflow command ends nowhere");
    free(written.text);
}

static void json(const char *text)
{
    struct written written;
    struct json json;
    sqlite3_stmt *statement;
    static sqlite3 *db;
    if (!db) fuzz_check(sqlite3_open(":memory:", &db) == SQLITE_OK, "SQLite opens");
    json_begin(&json, begin(&written), 0);
    json_begin_object(&json);
    json_text_member(&json, text, text);
    json_end(&json);
    json_finish(&json);
    fclose(written.out);
    fuzz_check(sqlite3_prepare_v2(db, "SELECT json_valid(?)", -1, &statement, NULL) == SQLITE_OK &&
                   sqlite3_bind_text(statement, 1, written.text, -1, SQLITE_STATIC) == SQLITE_OK &&
                   sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == 1,
               "what is written is JSON");
    sqlite3_finalize(statement);
    char *document = written.text;
    markup_script(begin(&written), document);
    fclose(written.out);
    fuzz_check(!strchr(written.text, '<'), "a document in a page ends no element");
    free(document);
    free(written.text);
}

static void lines(const char *text)
{
    struct written written;
    char copy[16];
    int cut = text_copy(copy, sizeof copy, text);
    fuzz_check((cut != 0) == (strlen(text) >= sizeof copy), "text_copy says whether it cut");
    fuzz_check(text_fitting(text, 20) <= (int)strlen(text), "what fits is of the text");
    text_wrap(begin(&written), text, 0, 4, 20);
    csv_write(written.out, text, '\n');
    fclose(written.out);
    free(written.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    xml(text);
    markdown(text);
    command(text);
    json(text);
    lines(text);
    free(text);
    return 0;
}
