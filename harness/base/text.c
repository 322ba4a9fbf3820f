#include "base/text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <string.h>

enum { LONGEST_WORD = 63 }; /* longer names are not suggested */

bool text_glob(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, 0) == 0;
}

bool text_ends(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

const char *text_begins(const char *text, const char *beginning)
{
    size_t length = strlen(beginning);
    return strncmp(text, beginning, length) == 0 ? text + length : NULL;
}

const char *text_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Edit distance of two words of at most LONGEST_WORD letters, row by row:
 * row[i % 3][j] is the distance of the first i letters of a and j of b. */
static int edit_distance(const char *a, int a_length, const char *b, int b_length)
{
    int row[3][LONGEST_WORD + 1];
    for (int j = 0; j <= b_length; j++)
        row[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        const int *above = row[(i + 2) % 3], *two_above = row[(i + 1) % 3];
        int *here = row[i % 3];
        here[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int replaced = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            here[j] = least(replaced, 1 + least(above[j], here[j - 1]));
            bool swapped = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                           same_letter(a[i - 2], b[j - 1]);
            if (swapped) here[j] = least(here[j], two_above[j - 2] + 1);
        }
    }
    return row[a_length % 3][b_length];
}

const char *text_nearest(const char *word, const char *const *words, int count)
{
    size_t length = strlen(word);
    const char *nearest = NULL;
    int nearest_distance = LONGEST_WORD;
    for (int i = 0; i < count && length <= LONGEST_WORD; i++) {
        size_t other = strlen(words[i]);
        if (other > LONGEST_WORD) continue;
        int distance = edit_distance(word, (int)length, words[i], (int)other);
        int allowed = (int)(length > other ? length : other) / 3;
        if (distance <= allowed && distance < nearest_distance) {
            nearest = words[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}

static bool is_utf8_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

const char *words_name(const struct words *words, int value)
{
    return value >= 0 && value < words->count ? words->list[value] : "";
}

int words_find(const struct words *words, const char *word)
{
    for (int i = 0; word && i < words->count; i++)
        if (strcmp(words->list[i], word) == 0) return i;
    return -1;
}

int text_copy(char *out, size_t size, const char *text)
{
    size_t length = strlen(text);
    bool cut = length >= size;
    if (size == 0) return -1;
    if (cut) {
        length = size - 1;
        while (length > 0 && is_utf8_continuation(text[length]))
            length--;
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return cut ? -1 : 0;
}

static const struct suffix {
    const char *text;
    int64_t scale;
} suffixes[] = {
    {"", 1},
    {"k", 1000},
    {"K", 1000},
    {"M", 1000000},
    {"G", 1000000000},
    {"T", 1000000000000},
    {"ki", INT64_C(1) << 10},
    {"Ki", INT64_C(1) << 10},
    {"Mi", INT64_C(1) << 20},
    {"Gi", INT64_C(1) << 30},
    {"Ti", INT64_C(1) << 40},
};

int64_t text_scale(const char *text)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(text, suffixes[i].text) == 0) return suffixes[i].scale;
    return 0;
}

/* Take the digits at *text into *number; false for none or too many. */
static bool take_digits(const char **text, int64_t *number)
{
    const char *first = *text;
    for (; isdigit((unsigned char)**text); ++*text)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, **text - '0', number))
            return false;
    return *text > first;
}

/* digits / 10^decimals * scale in integers: a count that is not whole is refused. */
bool text_parse_count(const char *text, int64_t *value)
{
    int64_t digits = 0;
    int decimals = 0;
    if (!take_digits(&text, &digits)) return false;
    if (*text == '.') {
        const char *point = text++;
        if (!take_digits(&text, &digits)) return false;
        decimals = (int)(text - point) - 1;
    }
    int64_t scale = text_scale(text);
    if (scale == 0) return false;
    for (; decimals > 0 && scale % 10 == 0; decimals--)
        scale /= 10;
    if (__builtin_mul_overflow(digits, scale, &digits)) return false;
    for (; decimals > 0; decimals--) {
        if (digits % 10 != 0) return false;
        digits /= 10;
    }
    *value = digits;
    return true;
}

/* By table 3-7 of the Unicode Standard: neither overlong forms nor surrogates are valid. */
int text_utf8_length(const char *at)
{
    const unsigned char *text = (const unsigned char *)at;
    static const struct {
        unsigned char first, last, second_min, second_max;
        int length;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        if (text[0] < forms[form].first || text[0] > forms[form].last) continue;
        int length = forms[form].length;
        if (length > 1 && (text[1] < forms[form].second_min || text[1] > forms[form].second_max))
            return 0;
        for (int i = 2; i < length; i++)
            if (text[i] < 0x80 || text[i] > 0xbf) return 0;
        return length;
    }
    return 0;
}

static unsigned code_point(const char *at, int length)
{
    static const unsigned char first_bits[] = {0xff, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = (unsigned char)at[0] & first_bits[length];
    for (int i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    return code;
}

/* Whether the character of `length` bytes is one that a terminal may obey, or that makes a line
 * look like another: controls, ends of lines, marks of direction, characters without width (Unicode
 * Standard Annex 9; Boucher, Anderson: Trojan Source, 2021). 0 bytes: it is none. */
static bool is_control(const char *at, int length)
{
    static const struct {
        unsigned first, last;
    } refused[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},  {0x200b, 0x200f},
                   {0x2028, 0x202e}, {0x2060, 0x2069}, {0xfeff, 0xfeff}};
    unsigned code = code_point(at, length);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (code >= refused[i].first && code <= refused[i].last) return true;
    return length == 0;
}

void text_printable(char *out, size_t size, const char *text, const char *kept)
{
    size_t used = 0;
    while (*text) {
        char escape[8];
        int length = text_utf8_length(text), taken = length ? length : 1, written = taken;
        const char *put = text;
        if (is_control(text, length) && !strchr(kept, *text)) {
            unsigned code = length ? code_point(text, length) : (unsigned char)*text;
            bool is_blank = code == '\n' || code == '\t' || code == '\r';
            const char *form = is_blank ? " " : code < 0x100 ? "\\x%02x" : "\\u%04x";
            written = snprintf(escape, sizeof escape, form, code);
            put = escape;
        }
        if (used + (size_t)written >= size) break;
        memcpy(out + used, put, (size_t)written);
        used += (size_t)written;
        text += taken;
    }
    out[used] = '\0';
}

bool text_is_printable(const char *text)
{
    int length;
    for (; *text && !is_control(text, length = text_utf8_length(text)); text += length)
        continue;
    return !*text;
}

void text_add(char *out, size_t size, const char *between, const char *format, ...)
{
    size_t used = strlen(out);
    va_list arguments;
    if (used) used += (size_t)snprintf(out + used, size - used, "%s", between);
    if (used >= size) return;
    va_start(arguments, format);
    vsnprintf(out + used, size - used, format, arguments);
    va_end(arguments);
}

void text_add_word(char *out, size_t size, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=+%~@";
    if (word[0] && word[strspn(word, plain)] == '\0') {
        text_add(out, size, " ", "%s", word);
        return;
    }
    text_add(out, size, " ", "'");
    for (const char *c = word; *c; c++)
        text_add(out, size, "", *c == '\'' ? "'\\''" : "%c", *c);
    text_add(out, size, "", "'");
}

void text_part(char *out, size_t size, const char *between, const char *format, const char *text)
{
    char part[1024];
    snprintf(part, sizeof part, format, text);
    if (text[0]) text_add(out, size, between, "%s", part);
}

const char *text_hint(char out[TEXT_HINT], const char *word, const char *const *words, int count,
                      const char *lead)
{
    const char *near = text_nearest(word, words, count);
    out[0] = '\0';
    if (near) snprintf(out, TEXT_HINT, " (did you mean '%s'?)", near);
    if (near || !lead || count == 0) return out;
    for (int i = 0; i < count; i++)
        text_add(out, TEXT_HINT, ", ", "%s%s%s", i ? "" : " (", i ? "" : lead, words[i]);
    text_add(out, TEXT_HINT, "", ")");
    return out;
}

static const char *row_name(struct named_rows rows, int row)
{
    return *(const char *const *)((const char *)rows.first + (size_t)row * rows.size);
}

int rows_find(struct named_rows rows, const char *name)
{
    for (int i = 0; i < rows.count; i++)
        if (strcmp(row_name(rows, i), name) == 0) return i;
    return -1;
}

const char *rows_hint(char out[TEXT_HINT], const char *word, struct named_rows rows,
                      const char *lead)
{
    const char *names[rows.count + 1];
    for (int i = 0; i < rows.count; i++)
        names[i] = row_name(rows, i);
    return text_hint(out, word, names, rows.count, lead);
}

int text_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += !is_utf8_continuation(*text);
    return width;
}

int text_fitting(const char *text, int width)
{
    int bytes = 0, word_end = 0;
    for (int seen = 0; text[bytes]; seen++) {
        if (text[bytes] == ' ') word_end = bytes;
        if (seen == width) return word_end ? word_end : bytes;
        do
            bytes++;
        while (is_utf8_continuation(text[bytes]));
    }
    return bytes;
}

void text_wrap(FILE *out, const char *text, int at, int indent, int width)
{
    const int least = 4;
    for (;; at = indent) {
        int bytes = text_fitting(text, width - at < least ? least : width - at);
        fprintf(out, "%.*s\n", bytes, text);
        text += bytes + strspn(text + bytes, " ");
        if (!*text) return;
        fprintf(out, "%*s", indent, "");
    }
}

void text_line(FILE *out, int at, int width, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!text[0]) return;
    fprintf(out, "%*s", at, "");
    text_wrap(out, text, at, at + 2, width);
}
