/*
 * test_code_mutants.c - real kernels of this tree, each changed in one place and assembled anew: no
 * two whose machine code, constants, variables, attributes or alignments differ have one identity,
 * and none that is the same has two. Needs nvcc and ptxas, no GPU.
 *
 *   CODE_MUTANTS=500   so many (`make check-proof`; else a few)
 *   CODE_KERNELS=...   of these sources, beside code_mutants.cu
 */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/rng.h"
#include "base/temp_folder.h"
#include "device/cuda/cubin_identity.h"

#define USUAL_KERNELS "tests/device/code_mutants.cu kernels/int8/div1.cu"

enum { USUAL_MUTANTS = 60, MOST_TEXT = 4 << 20, MOST_PLACES = 1 << 16 };

static struct temp_folder folder;

struct file {
    unsigned char *bytes;
    size_t size;
};

/* With a zero behind it, which is not counted; bytes NULL: there is none. */
static struct file read_file(const char *name)
{
    char path[5000];
    struct file file = {NULL, 0};
    snprintf(path, sizeof path, "%s/%s", folder.path, name);
    FILE *in = fopen(path, "rb");
    if (!in) return file;
    file.bytes = calloc(1, MOST_TEXT);
    assert_non_null(file.bytes);
    file.size = fread(file.bytes, 1, MOST_TEXT - 1, in);
    assert_true(feof(in));
    fclose(in);
    return file;
}

static bool sh(const char *format, const char *what)
{
    char line[8000], command[9000];
    snprintf(line, sizeof line, format, folder.path, what);
    snprintf(command, sizeof command, "PATH=$PATH:/usr/local/cuda/bin; { %s; } >/dev/null 2>&1",
             line);
    return system(command) == 0;
}

/* ---------------------------------------------------------------- the oracle -- */

static const char *const unloaded[] = {".debug", ".nv_debug", ".rela.debug", ".rel.debug",
                                       ".note",  ".strtab",   ".shstrtab"};

static bool is_loaded(const char *name)
{
    for (size_t i = 0; i < sizeof unloaded / sizeof unloaded[0]; i++)
        if (strncmp(name, unloaded[i], strlen(unloaded[i])) == 0) return false;
    return true;
}

static const Elf64_Shdr *section(const struct file *cubin, int index)
{
    const Elf64_Ehdr *header = (const void *)cubin->bytes;
    return (const Elf64_Shdr *)(cubin->bytes + header->e_shoff) + index;
}

static const char *name_of(const struct file *cubin, const Elf64_Shdr *of)
{
    const Elf64_Ehdr *header = (const void *)cubin->bytes;
    return (const char *)cubin->bytes + section(cubin, header->e_shstrndx)->sh_offset + of->sh_name;
}

/* Names of symbols stand elsewhere in the file when another name became longer. */
static bool same_bytes(const struct file *a, const Elf64_Shdr *x, const struct file *b,
                       const Elf64_Shdr *y)
{
    if (x->sh_type == SHT_NOBITS) return true;
    for (size_t i = 0; i < x->sh_size; i++) {
        bool is_name = x->sh_type == SHT_SYMTAB && i % sizeof(Elf64_Sym) < sizeof(Elf64_Word);
        if (!is_name && a->bytes[x->sh_offset + i] != b->bytes[y->sh_offset + i]) return false;
    }
    return true;
}

/* By what a loader takes of them. No source is moved here, so names that are local are the same. */
static bool same_code(const struct file *a, const struct file *b)
{
    const Elf64_Ehdr *left = (const void *)a->bytes, *right = (const void *)b->bytes;
    if (left->e_shnum != right->e_shnum || left->e_flags != right->e_flags) return false;
    for (int i = 1; i < left->e_shnum; i++) {
        const Elf64_Shdr *x = section(a, i), *y = section(b, i);
        if (strcmp(name_of(a, x), name_of(b, y)) != 0) return false;
        if (!is_loaded(name_of(a, x))) continue;
        if (x->sh_size != y->sh_size || x->sh_addralign != y->sh_addralign ||
            x->sh_type != y->sh_type || x->sh_flags != y->sh_flags || x->sh_info != y->sh_info ||
            !same_bytes(a, x, b, y))
            return false;
    }
    return true;
}

/* ----------------------------------------------------------------- mutations -- */

/* What is changed where `from` stands in a line that has `in`. */
struct mutation {
    const char *kind, *in, *from, *to;
};
static const struct mutation mutations[] = {
    {"constant", "0f", "0f3F", "0f3E"},
    {"constant", "0f", "0f4", "0f3"},
    {"constant", "mov.", ", 0;", ", 1;"},
    {"constant", "shl.b", ", 2;", ", 3;"},
    {"constant", "add.s", ", 1;", ", 2;"},
    {"constant", "and.b", ", 31;", ", 15;"},
    {"constant", "mul.wide", ", 4;", ", 8;"},
    {"constant", "ld.", "+4]", "+8]"},
    {"constant", "ld.", "+8]", "+16]"},
    {"operation", "add.", "add.", "sub."},
    {"operation", "fma.rn", "fma.rn", "fma.rz"},
    {"operation", "max.", "max.", "min."},
    {"operation", "setp.", ".lt.", ".le."},
    {"operation", "setp.", ".gt.", ".ge."},
    {"operation", "setp.", ".ne.", ".eq."},
    {"operation", "and.b", "and.b", "or.b"},
    {"operation", "div.", "div.rn", "div.rz"},
    {"operation", "mul.rn", "mul.rn", "mul.rm"},
    {"operation", "ld.global", "ld.global", "ld.volatile.global"},
    {"operation", "cvt.", ".rni.", ".rzi."},
    {"operation", "bra", "@%p", "@!%p"},
    {"block", ".maxntid", ".maxntid", ".minnctapersm 2\n.maxntid"},
    {"block", ".maxntid", "256", "512"},
    {"block", ".maxntid", "1024", "512"},
    {"alignment", ".align", ".align 4 ", ".align 16 "},
    {"alignment", ".align", ".align 16 ", ".align 64 "},
    {"alignment", ".align", ".align 1 ", ".align 8 "},
    {"variable", ".shared", "[", "[1"},
    {"variable", ".const", "= {", "= {1"},
    {"variable", ".const", "= ", "= 1"},
    {"variable", ".global", "= {", "= {1"},
    {"variable", ".global", "= ", "= 1"},
    {"variable", ".const", "[", "[1"},
    {"variable", ".global", "[", "[1"},
    {"parameter", ".param .u32", ".u32", ".u64"},
    {"parameter", ".param .f32", ".f32", ".f64"},
    {"left out", "bar.sync", "bar.sync", "// "},
    {"left out", "st.", "st.", "// st."},
    {"left out", "fence", "fence", "// "},
    {"nothing", "ld.param", "ld.param", "// as it was\nld.param"},
    {"nothing", "ret;", "ret;", "\n\n\tret;"},
};
enum { MUTATIONS = sizeof mutations / sizeof mutations[0] };

struct place {
    const struct mutation *mutation;
    const char *at;
};

/* Where the line that begins here can be changed. */
static int find_places(const char *line, size_t length, struct place *places)
{
    static char copy[1 << 16];
    int count = 0;
    if (length >= sizeof copy) return 0;
    memcpy(copy, line, length);
    copy[length] = '\0';
    if (strstr(copy, "//")) return 0;
    for (int i = 0; i < MUTATIONS; i++) {
        const char *at = strstr(copy, mutations[i].from);
        if (at && strstr(copy, mutations[i].in))
            places[count++] = (struct place){&mutations[i], line + (at - copy)};
    }
    return count;
}

static int find_all_places(const char *text, struct place places[MOST_PLACES])
{
    int count = 0;
    while (*text && count + MUTATIONS < MOST_PLACES) {
        size_t length = strcspn(text, "\n");
        count += find_places(text, length, places + count);
        text += length + (text[length] == '\n');
    }
    return count;
}

/* The cubin of a text with one place changed; bytes NULL: it is no program. */
static struct file mutant(const struct file *text, struct place place)
{
    char path[5000];
    const char *begin = (const char *)text->bytes,
               *behind = place.at + strlen(place.mutation->from);
    snprintf(path, sizeof path, "%s/m.ptx", folder.path);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fwrite(begin, 1, (size_t)(place.at - begin), out);
    fputs(place.mutation->to, out);
    fputs(behind, out);
    assert_int_equal(fclose(out), 0);
    if (!sh("cd %s && rm -f m.cubin && ptxas -arch=sm_90a -o m.cubin m.ptx", ""))
        return (struct file){NULL, 0};
    return read_file("m.cubin");
}

/* ---------------------------------------------------------------------- tests -- */

struct tally {
    int made, differ;
};

static bool same_identity(const struct file *a, const struct file *b)
{
    struct code_hash x, y;
    assert_int_equal(cubin_identity(a->bytes, a->size, &x), 0);
    assert_int_equal(cubin_identity(b->bytes, b->size, &y), 0);
    return memcmp(&x, &y, sizeof x) == 0;
}

static void hold_against(const struct file *text, const struct file *first, struct place place,
                         struct tally *tally)
{
    struct file other = mutant(text, place);
    if (!other.bytes) return;
    bool same = same_code(first, &other);
    if (same != same_identity(first, &other))
        fail_msg("%s: '%s' for '%s' at %td: %s", place.mutation->kind, place.mutation->to,
                 place.mutation->from, place.at - (const char *)text->bytes,
                 same ? "the code is the same, and the identity is not"
                      : "the code differs, and the identity is the same");
    tally->made++;
    tally->differ += !same;
    free(other.bytes);
}

/* `wanted` mutants of one source, each mutation in its turn. */
static void mutate(const char *source, int wanted, struct rng *rng, struct tally *tally)
{
    static struct place places[MOST_PLACES];
    int begun = tally->made;
    if (!sh("nvcc -std=c++17 -I. -Iharness -arch=sm_90a -ptx -o %s/k.ptx %s", source) ||
        !sh("cd %s && ptxas -arch=sm_90a -o k.cubin k.ptx", ""))
        fail_msg("%s does not compile", source);
    struct file text = read_file("k.ptx"), first = read_file("k.cubin");
    int count = find_all_places((const char *)text.bytes, places);
    for (int turn = 0, tries = 0; count > 0 && tally->made - begun < wanted && tries < 20 * wanted;
         turn++) {
        int start = (int)(rng_next(rng) % (uint64_t)count);
        for (int i = 0; i < count; i++) {
            struct place place = places[(start + i) % count];
            if (place.mutation != &mutations[turn % MUTATIONS]) continue;
            hold_against(&text, &first, place, tally);
            break;
        }
        tries++;
    }
    free(text.bytes);
    free(first.bytes);
}

TEST(no_kernel_that_differs_has_the_same_identity)
{
    const char *more = getenv("CODE_MUTANTS"), *named = getenv("CODE_KERNELS");
    char list[1 << 16], *rest = list, *source;
    struct tally tally = {0};
    struct rng rng;
    int sources = 0, wanted = more ? atoi(more) : USUAL_MUTANTS;
    if (test_without_cuda(sh("cd %s && command -v nvcc && command -v ptxas%s", ""))) return;
    snprintf(list, sizeof list, "%s %s", USUAL_KERNELS, named ? named : "");
    for (const char *c = list; *c; c++)
        sources += *c != ' ' && (c[1] == ' ' || c[1] == '\0');
    rng_seed(&rng, 21);
    while ((source = strsep(&rest, " ")))
        if (*source) mutate(source, (wanted + sources - 1) / sources, &rng, &tally);
    print_message("%d mutants, %d of other machine code\n", tally.made, tally.differ);
    assert_true(tally.made >= wanted * 9 / 10);
    assert_true(tally.differ >= tally.made / 2 && tally.differ < tally.made);
}

int main(void)
{
    if (temp_folder_make(&folder, "mutants") != 0) return 1;
    int failed = test_main(NULL, NULL);
    temp_folder_remove(&folder);
    return failed;
}
