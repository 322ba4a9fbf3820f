#include "base/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"

void csv_write(FILE *out, const char *field, char after)
{
    if (strpbrk(field, ",\"\r\n")) {
        fputc('"', out);
        for (const char *c = field; *c; c++) {
            if (*c == '"') fputc('"', out);
            fputc(*c, out);
        }
        fputc('"', out);
    } else {
        fputs(field, out);
    }
    fputc(after, out);
}

static int append(struct csv_record *record, char c)
{
    if (record->size == record->capacity) {
        size_t capacity = record->capacity ? 2 * record->capacity : 256;
        char *text = realloc(record->text, capacity);
        if (!text) return assay_error("out of memory for a record");
        record->text = text;
        record->capacity = capacity;
    }
    record->text[record->size++] = c;
    return 0;
}

/* Read the rest of a quoted field, its closing quote included. */
static int read_quoted(FILE *in, struct csv_record *record)
{
    for (int c = getc(in); c != EOF; c = getc(in)) {
        if (c == '\n') record->lines_read++;
        if (c == '"') {
            c = getc(in);
            if (c != '"') {
                ungetc(c, in);
                return 0;
            }
        }
        if (c == '\0') return assay_error("there is a NUL byte in a field");
        if (append(record, (char)c) != 0) return -1;
    }
    return assay_error("a quoted field does not end");
}

/* Read one field; *after is the character that ended it: ',', '\n' or EOF. */
static int read_field(FILE *in, struct csv_record *record, int *after)
{
    int c = getc(in);
    if (c == '"') {
        if (read_quoted(in, record) != 0) return -1;
        c = getc(in);
        if (c != ',' && c != '\r' && c != '\n' && c != EOF)
            return assay_error("text after the closing quote of a field");
    }
    while (c != ',' && c != '\n' && c != EOF) {
        int next = c == '\r' ? getc(in) : '\0';
        if (c == '\r' && (next == '\n' || next == EOF)) {
            c = next;
            break;
        }
        if (c == '\r') ungetc(next, in);
        if (c == '"') return assay_error("a quote within a field that does not begin with one");
        if (c == '\0') return assay_error("there is a NUL byte in a field");
        if (append(record, (char)c) != 0) return -1;
        c = getc(in);
    }
    if (c == '\n') record->lines_read++;
    *after = c;
    return append(record, '\0');
}

/* Called when the record is complete: until then realloc may move the text. */
static int find_fields(struct csv_record *record, int count)
{
    if (count > record->field_capacity) {
        char **field = realloc(record->field, (size_t)count * sizeof *field);
        if (!field) return assay_error("out of memory for a record");
        record->field = field;
        record->field_capacity = count;
    }
    char *at = record->text;
    for (int i = 0; i < count; i++, at += strlen(at) + 1)
        record->field[i] = at;
    record->count = count;
    return 0;
}

int csv_read(FILE *in, struct csv_record *record)
{
    int after, count;
    do {
        record->line = record->lines_read + 1;
        record->size = 0;
        count = 0;
        do {
            if (read_field(in, record, &after) != 0) return -1;
            count++;
        } while (after == ',');
        if (ferror(in)) return assay_error("cannot be read");
    } while (count == 1 && record->size == 1 && after == '\n');
    if (count == 1 && record->size == 1) return 0; /* nothing before the end */
    return find_fields(record, count) == 0 ? 1 : -1;
}

void csv_release(struct csv_record *record)
{
    free(record->field);
    free(record->text);
    *record = (struct csv_record){0};
}
