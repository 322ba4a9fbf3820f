/* code_listing.c - from what disassemblers print to functions and comparable lines. */
#include "device/code_listing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/grow.h"
#include "base/text.h"

/* ------------------------------------------------------------------- kinds -- */

/* The kinds in the order in which they are told, and how mnemonics of GPUs begin that are of them:
 * the longest beginning decides, and what has none is "integer and logic". */
static const struct {
    const char *name, *gpu;
} kinds[] = {
    {"tensor", "HMMA IMMA DMMA QMMA HGMMA IGMMA QGMMA BGMMA"},
    {"FMA", "FFMA FADD FMUL"},
    {"half", "HFMA2 HADD2 HMUL2"},
    {"double", "DFMA DADD DMUL DSETP"},
    {"special", "MUFU I2F F2I F2F FRND POPC FLO"},
    {"integer multiply", "IMAD"},
    {"integer and logic", ""},
    {"global memory", "LD ST UBLKCP UTMA"},
    {"shared memory", "LDSM LDS STS ATOMS"},
    {"local memory", "LDL STL"},
    {"atomics", "ATOM RED. REDG"},
    {"constants", "LDC ULDC"},
    {"barriers", "BAR MEMBAR DEPBAR SYNCS WARPGROUP"},
    {"packed", ""},
    {"floating point", ""},
    {"divisions", ""},
    {"string", ""},
    {"moves", ""},
    {"arithmetic", ""},
    {"calls", "CALL"},
    {"jumps", "BRA BRX BSSY BSYNC RET EXIT"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };
_Static_assert((int)KINDS <= (int)CODE_KINDS, "more kinds than there is room for");

const char *code_kind_name(int kind)
{
    return kind >= 0 && kind < KINDS ? kinds[kind].name : "";
}

static int kind_of_gpu(const char *text)
{
    int kind = rows_find(ROWS(kinds), "integer and logic");
    size_t longest = 0, length;
    if (*text == '@') text += strcspn(text, " ") + 1;
    for (int i = 0; i < KINDS; i++)
        for (const char *word = kinds[i].gpu; *word; word += length + strspn(word + length, " ")) {
            length = strcspn(word, " ");
            if (length <= longest || strncmp(text, word, length) != 0) continue;
            longest = length;
            kind = i;
        }
    return kind;
}

/* Written for x86: on another processor all but calls and jumps is arithmetic. */
static int kind_of_host(const char *text)
{
    char word[24];
    size_t length = strcspn(text, " ");
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    bool wide = strstr(text, "%xmm") || strstr(text, "%ymm") || strstr(text, "%zmm");
    const char *kind = "arithmetic";
    if (text_begins(word, "call") || strcmp(word, "bl") == 0)
        kind = "calls";
    else if (word[0] == 'j' || text_begins(word, "ret"))
        kind = "jumps";
    else if (text_begins(word, "lock") || text_begins(word, "xchg"))
        kind = "atomics";
    else if (text_begins(word, "rep"))
        kind = "string";
    else if (strstr(word, "div") || strstr(word, "sqrt"))
        kind = "divisions";
    else if (wide && (strstr(text, "%ymm") || strstr(text, "%zmm") || text_ends(word, "ps") ||
                      text_ends(word, "pd") || word[0] == 'p' || text_begins(word, "vp")))
        kind = "packed";
    else if (wide || word[0] == 'f')
        kind = "floating point";
    else if (text_begins(word, "mov") || text_begins(word, "push") || text_begins(word, "pop"))
        kind = "moves";
    return rows_find(ROWS(kinds), kind);
}

/* -------------------------------------------------------------------- keys -- */

/* "R12" -> "R", "UR4" -> "UR", "%rax" -> "%", "%xmm3" -> "%xmm"; ".reuse" is left out. */
static void add_key(char *key, const char *text)
{
    for (const char *at = text; *at;) {
        bool starts = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        size_t letters = strspn(at, "RUPB"), digits = 0;
        if (starts && letters > 0) digits = strspn(at + letters, "0123456789");
        if (text_begins(at, ".reuse")) {
            at += 6;
        } else if (*at == '%') {
            size_t name = 1 + strspn(at + 1, "abcdefghijklmnopqrstuvwxyz");
            bool wide =
                text_begins(at, "%xmm") || text_begins(at, "%ymm") || text_begins(at, "%zmm");
            memcpy(key, at, wide ? name : 1);
            key += wide ? name : 1;
            at += name + strspn(at + name, "0123456789bwd");
        } else if (digits > 0) {
            memcpy(key, at, letters);
            key += letters;
            at += letters + digits;
        } else {
            *key++ = *at++;
        }
    }
    *key = '\0';
}

/* Blanks become one each, from the text itself into it. */
static void squeeze(char *text)
{
    char *out = text;
    for (const char *at = text; *at; at++) {
        bool blank = isspace((unsigned char)*at);
        if (!blank)
            *out++ = *at;
        else if (out > text && out[-1] != ' ')
            *out++ = ' ';
    }
    while (out > text && out[-1] == ' ')
        out--;
    *out = '\0';
}

/* Targets of jumps within a function move with every instruction before them. */
static void forget_target(char *text)
{
    static const char *const jumps[] = {"BRA", "BSSY", "BRX", "CALL"};
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        char *at = strstr(text, jumps[i]), *target = at ? strstr(at, "0x") : NULL;
        if (target) strcpy(target, ".");
    }
}

/* "jmp 1180 <f+0x20>" -> "jmp .", "call 1060 <malloc@plt>" -> "call malloc@plt", "mov
 * 0x2ee4(%rip),%rax # 4010 <x>" -> "mov (%rip),%rax". */
static void forget_addresses(char *text)
{
    char *comment = strstr(text, " # ");
    if (comment) *comment = '\0';
    char *rip = strstr(text, "(%rip)"), *number = rip;
    while (number > text && (isxdigit((unsigned char)number[-1]) || strchr("x-", number[-1])))
        number--;
    if (rip && number < rip) memmove(number, rip, strlen(rip) + 1);
    char *open = strrchr(text, '<'), *blank = strchr(text, ' ');
    if (!open || !blank || open < blank) return;
    char *close = strchr(open, '>');
    bool is_call = text_begins(text, "call");
    if (!close) return;
    *close = '\0';
    if (is_call && !strpbrk(open, "+"))
        memmove(blank + 1, open + 1, strlen(open + 1) + 1);
    else
        strcpy(blank + 1, ".");
}

static bool is_padding(const char *text)
{
    return text_begins(text, "nop") || text_begins(text, "NOP") || text_begins(text, "data16") ||
           text_begins(text, "cs nop") || strcmp(text, "xchg %ax,%ax") == 0;
}

/* ------------------------------------------------------------------- lines -- */

static struct code_function *add_function(struct code_listing *listing, const char *name, int arch)
{
    struct code_function *function =
        grow_add(&listing->functions, &listing->count, sizeof *function, "functions of a listing");
    if (!function) return NULL;
    *function = (struct code_function){
        .name = name,
        .arch = arch,
        .place = listing->count,
        .registers = -1,
        .stack_bytes = -1,
        .shared_bytes = -1,
    };
    return function;
}

static int keep_text(struct code_listing *listing, char *text)
{
    int status =
        text ? grow_keep(&listing->texts, &listing->text_count, &text, sizeof text, "texts") : -1;
    if (status != 0) free(text);
    return status;
}

static int add_line(struct code_listing *listing, struct code_function *function, char *text)
{
    bool is_host = function->arch == 0;
    squeeze(text);
    if (!text[0] || is_padding(text)) return 0;
    if (is_host)
        forget_addresses(text);
    else
        forget_target(text);
    char *key = malloc(strlen(text) + 1);
    if (!key) return assay_error("out of memory for a listing");
    add_key(key, text);
    if (keep_text(listing, key) != 0) return -1;
    const struct code_line line = {text, key, is_host ? kind_of_host(text) : kind_of_gpu(text)};
    return grow_keep(&function->lines, &function->count, &line, sizeof line, "lines of a listing");
}

/* What stands between the comments of address and encoding; NULL: there is none. */
static char *gpu_instruction(char *line)
{
    char *begin = strstr(line, "*/"), *end = begin ? strchr(begin, ';') : NULL;
    if (!end) return NULL;
    *end = '\0';
    return begin + 2;
}

/* "    1139:\tpush   %rbp"; NULL: it is no such line. */
static char *host_instruction(char *line)
{
    char *tab = strchr(line, '\t');
    return line[0] == ' ' && tab && tab > line && tab[-1] == ':' ? tab + 1 : NULL;
}

/* "0000000000001139 <scale>:" -> "scale"; NULL. What only jumps to a library is no function. */
static char *host_function(char *line)
{
    char *open = strchr(line, '<');
    size_t length = strlen(line);
    if (!isxdigit((unsigned char)line[0]) || !open || !text_ends(line, ">:")) return NULL;
    line[length - 2] = '\0';
    return open + 1;
}

/* " REG:22 STACK:0 SHARED:1536 ..." of the function that was named before. */
static void take_resources(struct code_listing *listing, const char *name, int arch,
                           const char *line)
{
    int registers, stack, shared;
    if (sscanf(line, " REG:%d STACK:%d SHARED:%d", &registers, &stack, &shared) != 3) return;
    for (int i = 0; i < listing->count; i++) {
        struct code_function *function = &listing->functions[i];
        if (strcmp(function->name, name) != 0 || function->arch != arch) continue;
        function->registers = registers;
        function->stack_bytes = stack;
        function->shared_bytes = shared;
    }
}

struct reading {
    int arch;
    bool is_skipped;      /* a function of no interest */
    const char *resource; /* the kernel whose resources come next; NULL: none */
};

static int begin_function(struct code_listing *listing, struct reading *reading, char *name,
                          int arch)
{
    /* What only jumps to a library; and what says which commit was built. */
    reading->is_skipped = strstr(name, "@plt") || strcmp(name, ".plt") == 0 ||
                          strcmp(name, "provenance_program") == 0;
    return reading->is_skipped || add_function(listing, name, arch) ? 0 : -1;
}

static int take_line(struct code_listing *listing, struct reading *reading, char *line)
{
    static const char of_gpu_is[] = "Function : ";
    const char *arch = text_begins(line, "\tcode for sm_");
    char *at;
    if (arch) {
        reading->arch = atoi(arch);
        return 0;
    }
    if ((at = strstr(line, of_gpu_is)) != NULL)
        return begin_function(listing, reading, at + strlen(of_gpu_is), reading->arch);
    if (text_begins(line, " Function ") && text_ends(line, ":")) {
        line[strlen(line) - 1] = '\0';
        reading->resource = line + strlen(" Function ");
        return 0;
    }
    if (reading->resource) {
        take_resources(listing, reading->resource, reading->arch, line);
        reading->resource = NULL;
        return 0;
    }
    if ((at = host_function(line)) != NULL) {
        reading->arch = 0;
        return begin_function(listing, reading, at, 0);
    }
    if (listing->count == 0 || reading->is_skipped) return 0;
    at = reading->arch > 0 ? gpu_instruction(line) : host_instruction(line);
    return at ? add_line(listing, &listing->functions[listing->count - 1], at) : 0;
}

int code_listing_add(struct code_listing *listing, char *text)
{
    struct reading reading = {0};
    int status = keep_text(listing, text);
    for (char *line = text, *next; status == 0 && line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        status = take_line(listing, &reading, line);
    }
    return status;
}

void code_listing_release(struct code_listing *listing)
{
    for (int i = 0; i < listing->count; i++)
        free(listing->functions[i].lines);
    for (int i = 0; i < listing->text_count; i++)
        free(listing->texts[i]);
    free(listing->functions);
    free(listing->texts);
    *listing = (struct code_listing){0};
}
