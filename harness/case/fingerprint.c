#define _GNU_SOURCE /* vasprintf */
#include "case/fingerprint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static const char head[] = "assay fingerprints 1";

/* -------------------------------------------------------------- building -- */

void fingerprint_begin(struct fingerprint *print, const struct case_id *id)
{
    *print = (struct fingerprint){.id = *id};
    sha256_begin(&print->state);
}

void fingerprint_add(struct fingerprint *print, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        fingerprint_doubt(print, "out of memory for its facts");
        return;
    }
    sha256_add(&print->state, text, (size_t)length + 1);
    if (print->count < FINGERPRINT_KEPT)
        text_printable(print->fact[print->count], FINGERPRINT_FACT, text, "");
    print->count++;
    free(text);
}

void fingerprint_doubt(struct fingerprint *print, const char *format, ...)
{
    char text[ASSAY_MAX_REASON];
    va_list arguments;
    if (print->unknown[0]) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_printable(print->unknown, sizeof print->unknown, text, "");
}

void fingerprint_end(struct fingerprint *print)
{
    char text[SHA256_TEXT];
    sha256_end(&print->state, text);
    snprintf(print->hash, sizeof print->hash, "%.32s", text);
}

/* --------------------------------------------------------------- writing -- */

int fingerprints_write_head(FILE *out)
{
    return fprintf(out, "%s\n", head) < 0 ? assay_error("cannot be written") : 0;
}

static int kept(const struct fingerprint *print)
{
    return print->count < FINGERPRINT_KEPT ? (int)print->count : FINGERPRINT_KEPT;
}

int fingerprint_write(FILE *out, const struct fingerprint *print)
{
    const struct case_id *id = &print->id;
    fprintf(out, "case\t%s\t%s\t%s\t%s\t%s\t%s\n", id->operation, id->variant, id->shape,
            temperature_name(id->temperature), place_name(id->place), kind_name(id->kind));
    fprintf(out, "program\t%s\t%s\n", print->program, print->needs_program ? "needed" : "");
    fprintf(out, "unknown\t%s\n", print->unknown);
    for (int i = 0; i < kept(print); i++)
        fprintf(out, "fact\t%s\n", print->fact[i]);
    if (fprintf(out, "end\t%" PRId64 "\t%s\n", print->count, print->hash) > 0) return 0;
    return assay_error("a fingerprint cannot be written: %s", strerror(errno));
}

/* --------------------------------------------------------------- reading -- */

enum { FIELDS = 7, LINE = 1024 };

/* Of "NAME\tFIELD\tFIELD": the fields, "" where there are fewer. */
static void split(char *line, char *field[FIELDS])
{
    char *rest = line;
    for (int i = 0; i < FIELDS; i++) {
        field[i] = rest ? strsep(&rest, "\t") : line + strlen(line);
        if (!field[i]) field[i] = line + strlen(line);
    }
}

static int read_case(struct fingerprint *print, char *const field[FIELDS])
{
    struct case_id id = {.temperature = temperature_parse(field[4]),
                         .place = place_parse(field[5]),
                         .kind = kind_parse(field[6])};
    bool fits = text_copy(id.operation, sizeof id.operation, field[1]) == 0 &&
                text_copy(id.variant, sizeof id.variant, field[2]) == 0 &&
                text_copy(id.shape, sizeof id.shape, field[3]) == 0;
    if (!fits || id.temperature < 0 || id.place < 0 || id.kind < 0) return -1;
    fingerprint_begin(print, &id);
    return 0;
}

static int read_end(struct fingerprint *print, int facts, char *const field[FIELDS])
{
    char *end;
    print->count = strtoll(field[1], &end, 10);
    bool fine = end != field[1] && !*end && print->count >= facts && facts == kept(print);
    return fine && text_copy(print->hash, sizeof print->hash, field[2]) == 0 &&
                   strlen(print->hash) == FINGERPRINT_HASH - 1
               ? 0
               : -1;
}

/* The lines of one, behind its first. 0, or -1. */
static int read_rest(FILE *in, struct fingerprint *print)
{
    char line[LINE], *field[FIELDS];
    for (int facts = 0; fgets(line, sizeof line, in);) {
        size_t length = strcspn(line, "\n");
        if (!line[length]) return -1;
        line[length] = '\0';
        split(line, field);
        if (!strcmp(field[0], "end")) return read_end(print, facts, field);
        int status = -1;
        if (!strcmp(field[0], "program")) {
            status = text_copy(print->program, sizeof print->program, field[1]);
            print->needs_program = !strcmp(field[2], "needed");
        } else if (!strcmp(field[0], "unknown")) {
            status = text_copy(print->unknown, sizeof print->unknown, field[1]);
        } else if (!strcmp(field[0], "fact") && facts < FINGERPRINT_KEPT) {
            status = text_copy(print->fact[facts++], FINGERPRINT_FACT, field[1]);
        }
        if (status != 0) return -1;
    }
    return -1;
}

static int read_all(FILE *in, struct fingerprints *prints, const char *path)
{
    char line[LINE], *field[FIELDS];
    if (!fgets(line, sizeof line, in) || strncmp(line, head, sizeof head - 1) ||
        line[sizeof head - 1] != '\n')
        return assay_error("%s: no fingerprints of the version of this program", path);
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        split(line, field);
        struct fingerprint *print =
            grow_add(&prints->list, &prints->count, sizeof *print, "fingerprints");
        if (!print) return -1;
        if (strcmp(field[0], "case") || read_case(print, field) != 0 || read_rest(in, print) != 0)
            return assay_error("%s: a fingerprint in it is not whole", path);
    }
    return 0;
}

int fingerprints_read(struct fingerprints *prints, const char *path)
{
    *prints = (struct fingerprints){0};
    FILE *in = fopen(path, "r");
    if (!in) return assay_error("%s: %s", path, strerror(errno));
    int status = read_all(in, prints, path);
    fclose(in);
    if (status != 0) fingerprints_release(prints);
    return status;
}

void fingerprints_release(struct fingerprints *prints)
{
    free(prints->list);
    *prints = (struct fingerprints){0};
}
