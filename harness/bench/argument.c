#include "bench/argument.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "case/result.h"

/* Types of numbers and elements. `element` -1: of no buffer. */
static const struct {
    const char *name;
    int bytes, element;
    bool is_float;
    double least, most; /* of a whole number, and of a float that saturates */
} types[] = {
    {"f32", 4, ASSAY_F32, true, 0, 0},
    {"f64", 8, ASSAY_F64, true, 0, 0},
    {"f16", 2, ASSAY_F16, true, 0, 0},
    {"bf16", 2, ASSAY_BF16, true, 0, 0},
    {"e4m3", 1, ASSAY_E4M3, true, -448, 448},
    {"e5m2", 1, ASSAY_E5M2, true, -57344, 57344},
    {"i8", 1, ASSAY_I8, false, -0x1p7, 0x1p7},
    {"u8", 1, ASSAY_U8, false, 0, 0x1p8},
    {"i16", 2, ASSAY_I16, false, -0x1p15, 0x1p15},
    {"u16", 2, -1, false, 0, 0x1p16},
    {"i32", 4, ASSAY_I32, false, -0x1p31, 0x1p31},
    {"u32", 4, ASSAY_U32, false, 0, 0x1p32},
    {"i64", 8, ASSAY_I64, false, -0x1p63, 0x1p63},
    {"u64", 8, -1, false, 0, 0x1p64},
};

/* ----------------------------------------------------------------- words -- */

static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    if (!*word) return NULL;
    char *end = word + strcspn(word, " \t");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static int refuse_type(const char *word)
{
    char hint[TEXT_HINT];
    return assay_error("no type is called '%s'%s", word,
                       rows_hint(hint, word, ROWS(types), "there are "));
}

/* ------------------------------------------------------------------ fills -- */

static const struct {
    const char *name;
    enum assay_fill_kind kind;
    int least, most; /* numbers behind it */
    double a, b;     /* where there are none */
} fills[] = {
    {"normal", ASSAY_FILL_NORMAL, 0, 2, 0, 1},
    {"uniform", ASSAY_FILL_UNIFORM, 0, 2, 0, 1},
    {"integer", ASSAY_FILL_INTEGER, 2, 2, 0, 0},
    {"value", ASSAY_FILL_UNIFORM, 1, 1, 0, 0},
};
enum { FILLS = sizeof fills / sizeof *fills };

static int refuse_fill(const char *word)
{
    const char *names[FILLS + 1];
    char hint[TEXT_HINT];
    for (int i = 0; i < FILLS; i++)
        names[i] = fills[i].name;
    names[FILLS] = "constant";
    return assay_error("an input is not filled by '%s'%s", word,
                       text_hint(hint, word, names, FILLS + 1, "there are "));
}

/* What is too large for a float would become infinite. */
static bool is_held(int type, double value)
{
    unsigned char bytes[8];
    if (!types[type].is_float) return value >= types[type].least && value < types[type].most;
    if (types[type].most > 0) return fabs(value) <= types[type].most;
    assay_store((enum assay_type)types[type].element, bytes, 0, value);
    return isfinite(assay_load((enum assay_type)types[type].element, bytes, 0));
}

/* What a fill draws must be of the type. */
static int check_range(const struct argument *argument, int type)
{
    const struct assay_fill *fill = &argument->fill;
    if (fill->kind == ASSAY_FILL_INTEGER && fill->a > fill->b)
        return assay_error("integer %g %g: the smaller number comes first", fill->a, fill->b);
    if (!types[type].is_float && fill->kind == ASSAY_FILL_NORMAL)
        return assay_error("normal is of floats; integer A B fills %s", types[type].name);
    if (!is_held(type, fill->a) || !is_held(type, fill->b))
        return assay_error("%g to %g do not fit into %s", fill->a, fill->b, types[type].name);
    return 0;
}

/* Whole numbers are often places in another buffer: none is taken for granted. */
static int refuse_range(int type)
{
    return assay_error("an input of %s says its range: integer 0 100", types[type].name);
}

static int read_fill(struct argument *argument, int type, const char *word, char **rest)
{
    double number[2];
    int count = 0, f = rows_find(ROWS(fills), word);
    if (f < 0) return refuse_fill(word);
    for (const char *next = *rest + strspn(*rest, " \t");
         count < fills[f].most && (isdigit((unsigned char)*next) || strchr("-.", *next)) && *next;
         next = *rest + strspn(*rest, " \t"))
        if (expression_real(next_word(rest), NULL, &number[count++])) return -1;
    if (count < fills[f].least || (count == 1 && fills[f].most == 2))
        return assay_error("%s wants %d number%s behind it", fills[f].name, fills[f].most,
                           fills[f].most == 1 ? "" : "s");
    if (count == 0 && fills[f].kind == ASSAY_FILL_UNIFORM && !types[type].is_float)
        return refuse_range(type);
    argument->fill.kind = fills[f].kind;
    argument->fill.a = count ? number[0] : fills[f].a;
    argument->fill.b = count == 2 ? number[1] : count ? number[0] : fills[f].b;
    return check_range(argument, type);
}

/* Floats are normal unless something else is said. */
static int read_fills(struct argument *argument, int type, char *rest)
{
    bool is_filled = false;
    for (char *word; (word = next_word(&rest));) {
        if (argument->role != ASSAY_IN) return assay_error("'%s': only an input is filled", word);
        if (!strcmp(word, "constant")) {
            argument->constant = true;
            continue;
        }
        if (is_filled) return assay_error("'%s' is too much: it is filled already", word);
        is_filled = true;
        if (read_fill(argument, type, word, &rest)) return -1;
    }
    if (is_filled || argument->role != ASSAY_IN) return 0;
    if (!types[type].is_float) return refuse_range(type);
    argument->fill = (struct assay_fill){.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1};
    return 0;
}

/* --------------------------------------------------------------- parsing -- */

/* "f32[rows*columns] normal" */
static int read_buffer(struct argument *argument, char *text)
{
    text += strspn(text, " \t");
    char *open = strchr(text, '['), *close = strchr(text, ']');
    if (!open || !close || close < open)
        return assay_error("'%s': a buffer is TYPE[COUNT], as f32[n]", text);
    *open = *close = '\0';
    int type = rows_find(ROWS(types), text);
    if (type < 0) return refuse_type(text);
    if (types[type].element < 0)
        return assay_error("a buffer cannot be of %s; %s has as many bytes", text,
                           types[type].bytes == 8 ? "i64" : "i16");
    argument->kind = ARGUMENT_BUFFER;
    argument->type = type;
    argument->element = (enum assay_type)types[type].element;
    text_copy(argument->expression, sizeof argument->expression, open + 1);
    return read_fills(argument, type, close + 1);
}

int argument_parse(struct argument *argument, const char *text)
{
    char copy[SUITE_MAX_VALUE], *rest = copy;
    if (text_copy(copy, sizeof copy, text)) return assay_error("it is too long");
    char *word = next_word(&rest);
    if (!word) return assay_error("it is empty (in f32[n], out f32[n], i32 n, null)");
    int role = words_find(&role_words, word);
    if (role >= 0) {
        argument->role = (enum assay_role)role;
        return read_buffer(argument, rest);
    }
    if (!strcmp(word, "inout"))
        return assay_error("a kernel is launched many times: what it changes in place is another "
                           "input each time. Call it 'scratch' where the values do not matter");
    if (!strcmp(word, "null")) {
        argument->kind = ARGUMENT_NULL;
        return *rest ? assay_error("'%s' is too much behind null", rest) : 0;
    }
    argument->kind = ARGUMENT_NUMBER;
    argument->type = rows_find(ROWS(types), word);
    if (argument->type < 0 && strchr(word, '['))
        return assay_error("'%s': a buffer begins with in, out or scratch", text);
    if (argument->type < 0) return refuse_type(word);
    rest += strspn(rest, " \t");
    if (!*rest) return assay_error("'%s': a number has its value behind its type: i32 n", text);
    text_copy(argument->expression, sizeof argument->expression, rest);
    return 0;
}

/* --------------------------------------------------------------- values -- */

int argument_bytes(const struct argument *argument)
{
    return argument->kind == ARGUMENT_NUMBER ? types[argument->type].bytes : (int)sizeof(void *);
}

/* The value of a float: the double, rounded to the type. */
static int float_value(const struct argument *argument, const struct assay_shape *shape,
                       union argument_value *value)
{
    double real;
    if (expression_real(argument->expression, shape, &real)) return -1;
    if (!is_held(argument->type, real))
        return assay_error("'%s' is %g, which does not fit into %s", argument->expression, real,
                           types[argument->type].name);
    assay_store((enum assay_type)types[argument->type].element, value->bytes, 0, real);
    return 0;
}

int argument_number(const struct argument *argument, const struct assay_shape *shape,
                    union argument_value *value)
{
    int64_t whole;
    *value = (union argument_value){0};
    if (types[argument->type].is_float) return float_value(argument, shape, value);
    if (expression_whole(argument->expression, shape, &whole)) return -1;
    double least = types[argument->type].least, most = types[argument->type].most;
    if ((double)whole < least || ((double)whole >= most && most < 0x1p63))
        return assay_error("'%s' is %lld, which does not fit into %s", argument->expression,
                           (long long)whole, types[argument->type].name);
    memcpy(value->bytes, &whole, (size_t)types[argument->type].bytes); /* little-endian, as a GPU */
    return 0;
}

void argument_text(const struct argument *argument, char *out, size_t size)
{
    if (argument->kind == ARGUMENT_NULL)
        snprintf(out, size, "null");
    else if (argument->kind == ARGUMENT_NUMBER)
        snprintf(out, size, "%s %s", types[argument->type].name, argument->expression);
    else
        snprintf(out, size, "%s %s[%s]", role_name(argument->role), types[argument->type].name,
                 argument->expression);
}
