/* test_program_code.c - the hash of a program's code: what changes it and what does not. */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/program_code.h"
#include "base/rng.h"
#include "base/temp_folder.h"

static struct temp_folder folder;

static void sh(const char *format, const char *text)
{
    char command[1024];
    int used = snprintf(command, sizeof command, "cd %s && ", folder.path);
    snprintf(command + used, sizeof command - (size_t)used, format, text);
    assert_int_equal(system(command), 0);
}

/* Compile a program of this text; its hash. */
static void hash_of(const char *text, const char *options, char out[PROGRAM_CODE])
{
    char path[5000], command[256];
    snprintf(path, sizeof path, "%s/p.c", folder.path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "cc -O2 %s -o p p.c", options);
    sh("%s", command);
    snprintf(path, sizeof path, "%s/p", folder.path);
    assert_int_equal(program_code_of_file(path, out), 0);
}

#define FACT "__attribute__((section(\"assay_provenance\"), used)) const char fact[16] = "

TEST(what_a_build_says_of_itself_is_left_out)
{
    char one[PROGRAM_CODE], other[PROGRAM_CODE];
    hash_of(FACT "\"abc\"; int main(void) { return 3; }", "", one);
    hash_of(FACT "\"defghi\"; int main(void) { return 3; }", "", other);
    assert_string_equal(one, other);
    hash_of("/* a comment */ " FACT "\"abc\";\n\nint main(void) { return 3; }", "-g", other);
    assert_string_equal(one, other);
}

TEST(what_it_does_is_in_it)
{
    static const char *const others[] = {
        "const int table[4] = {1, 2, 3, 4}; int main(void) { return table[0] + 1; }",
        "const int table[4] = {1, 2, 3, 5}; int main(void) { return table[0]; }",
        "int table[4] = {1, 2, 3, 4}; int main(void) { return table[0]; }",
        "const int table[4] = {1, 2, 3, 4}; int more[9]; int main(void) { return table[0]; }",
        "const int table[4] = {1, 2, 3, 4}; int mine(void) { return table[0]; }"
        "int main(void) { return mine(); }"};
    char one[PROGRAM_CODE], other[PROGRAM_CODE];
    hash_of("const int table[4] = {1, 2, 3, 4}; int main(void) { return table[0]; }", "", one);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        hash_of(others[i], "", other);
        assert_string_not_equal(one, other);
    }
}

static bool holds_code(const char *section)
{
    static const char *const names[] = {".text", ".rodata", ".data", ".init_array", ".plt"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(section, names[i]) == 0) return true;
    return false;
}

/* The places of a program's code and data in its file. */
static int places_of(const unsigned char *bytes, long *places, int most)
{
    const Elf64_Ehdr *head = (const void *)bytes;
    const Elf64_Shdr *table = (const void *)(bytes + head->e_shoff);
    const char *names = (const char *)bytes + table[head->e_shstrndx].sh_offset;
    int count = 0;
    for (int i = 0; i < head->e_shnum; i++)
        for (uint64_t at = 0; holds_code(names + table[i].sh_name) && at < table[i].sh_size; at++)
            if (count < most) places[count++] = (long)(table[i].sh_offset + at);
    return count;
}

/* The logic of a host is its code and its data: 500 bytes of a program, each changed alone. */
TEST(every_byte_of_code_and_data_counts)
{
    static unsigned char bytes[1 << 17];
    static long places[1 << 16];
    char path[5000], one[PROGRAM_CODE], other[PROGRAM_CODE];
    struct rng rng;
    hash_of("#include <stdio.h>\n static int table[64] = {3, 1, 4, 1, 5}; int loud = 7;"
            "static __attribute__((noinline)) int fold(int x) { return table[x & 63] * 31 + x; }"
            "int main(int n, char **words) { for (int i = 0; i < n; i++) loud += fold(i);"
            "printf(\"%s %d\", words[0], loud); return loud; }",
            "", one);
    snprintf(path, sizeof path, "%s/p", folder.path);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_true(fread(bytes, 1, sizeof bytes, file) > 0 && feof(file));
    int count = places_of(bytes, places, 1 << 16);
    assert_true(count > 500);
    rng_seed(&rng, 22);
    for (int i = 0; i < 500; i++) {
        long at = places[rng_next(&rng) % (uint64_t)count];
        for (int back = 0; back < 2; back++) {
            assert_int_equal(fseek(file, at, SEEK_SET), 0);
            assert_true(fputc(back ? bytes[at] : bytes[at] ^ 1 << i % 8, file) >= 0);
            assert_int_equal(fflush(file), 0);
            assert_int_equal(program_code_of_file(path, other), 0);
            if ((strcmp(one, other) == 0) != back) fail_msg("byte %ld of %s", at, path);
        }
    }
    fclose(file);
}

#define FATBIN(size, at)                                                                           \
    "__attribute__((section(\".nv_fatbin\"), used)) const char fat[" #size "] = {1};"              \
    "__attribute__((section(\".nvFatBinSegment\"), used)) const void *volatile where = fat + " #at \
    ";"
#define TABLE(first, second)                                                                       \
    "static int one(void) { return 1; } static int two(void) { return 2; }"                        \
    "int (*const table[])(void) = {" #first ", " #second "};"                                      \
    "int main(int count, char **words) { (void)words; return table[count](); }"

/* As the program is linked: code of another size lies behind all else and moves nothing. */
TEST(code_of_a_gpu_is_left_out)
{
    static const char options[] = "-Wl,--section-start=.nv_fatbin=0x10000000";
    char one[PROGRAM_CODE], other[PROGRAM_CODE];
    hash_of(FATBIN(1000, 0) TABLE(one, two), options, one);
    hash_of(FATBIN(9000, 24) TABLE(one, two), options, other);
    assert_string_equal(one, other);
    hash_of(FATBIN(1000, 0) TABLE(two, one), options, other); /* by its relocations alone */
    assert_string_not_equal(one, other);
}

TEST(this_program_has_one)
{
    char one[PROGRAM_CODE], again[PROGRAM_CODE];
    program_code(one);
    program_code(again);
    assert_int_equal(strlen(one), PROGRAM_CODE - 1);
    assert_string_equal(one, again);
    setenv("SHLVL", "17", 1);
    program_code(again);
    assert_string_equal(one, again);
    setenv("OMP_NUM_THREADS", "17", 1);
    program_code(again);
    assert_string_not_equal(one, again);
}

TEST(what_is_no_program_is_refused)
{
    static const size_t sizes[] = {0, 4, 60, 64, 100, 1000};
    char path[5000], out[PROGRAM_CODE];
    hash_of("int main(void) { return 0; }", "", out);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char command[64];
        snprintf(command, sizeof command, "head -c %zu p >cut", sizes[i]);
        sh("%s", command);
        snprintf(path, sizeof path, "%s/cut", folder.path);
        assert_int_equal(program_code_of_file(path, out), -1);
        assert_string_equal(out, "");
    }
    assert_int_equal(program_code_of_file("/nowhere", out), -1);
}

int main(void)
{
    if (temp_folder_make(&folder, "code") != 0) return 1;
    int failed = test_main(NULL, NULL);
    temp_folder_remove(&folder);
    return failed;
}
