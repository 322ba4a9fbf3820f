/* test_kernel_image.c - what is known of kernels before there is a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"
#include "base/error.h"
#include "device/kernel_image.h"

#define SOURCE "tests/device/kernels.cu"

static const char ptx[] = "//\n"
                          "// .entry of a comment\n"
                          ".version 8.0\n"
                          ".target sm_80\n"
                          ".address_size 64\n"
                          ".file 1 \"/no comment /*.cu\"\n"
                          ".extern .shared .align 16 .b8 scratch[];\n"
                          ".visible .entry _Z5scalePKfPfif(\n"
                          "\t.param .u64 _Z5scalePKfPfif_param_0,\n"
                          "\t.param .u64 .ptr .global .align 4 _Z5scalePKfPfif_param_1,\n"
                          "\t.param .u32 _Z5scalePKfPfif_param_2, /* n, */\n"
                          "\t.param .f32 _Z5scalePKfPfif_param_3\n"
                          ")\n"
                          "{ ret; }\n"
                          ".visible .entry structure(.param .align 4 .b8 structure_param_0[20])\n"
                          ".maxntid 128, 1, 1\n"
                          "{ ret; }\n"
                          ".entry nothing()\n{ ret; }\n";

static void has_parameters(const struct kernel_image *image, const char *name, int count, ...)
{
    va_list sizes;
    const struct kernel_entry *kernel = kernel_image_find(image, name);
    if (!kernel) fail_msg("%s", assay_last_error());
    assert_int_equal(kernel->parameters, count);
    va_start(sizes, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(kernel->parameter_bytes[i], va_arg(sizes, int));
    va_end(sizes);
}

static void lacks(const struct kernel_image *image, const char *name, const char *why)
{
    assert_null(kernel_image_find(image, name));
    if (!strstr(assay_last_error(), why)) fail_msg("%s, not %s", assay_last_error(), why);
}

TEST(ptx_declares_its_kernels)
{
    struct kernel_image image;
    assert_int_equal(kernel_image_read(&image, strdup(ptx), sizeof ptx - 1), 0);
    assert_true(image.is_ptx);
    assert_int_equal(image.sm, 80);
    assert_int_equal(image.count, 3);
    has_parameters(&image, "scale", 4, 8, 8, 4, 4);
    has_parameters(&image, "_Z5scalePKfPfif", 4, 8, 8, 4, 4);
    has_parameters(&image, "structure", 1, 20);
    has_parameters(&image, "nothing", 0);
    lacks(&image, "scal", "did you mean 'scale'?");
    lacks(&image, "quite_another", "it has scale, structure, nothing");
    kernel_image_release(&image);
}

/* After a source was not compiled: whether NVRTC was there to do it. */
static bool has_nvrtc(void)
{
    return !strstr(assay_last_error(), "cannot be loaded");
}

/* The image of the source, compiled; false where the test is left out. */
static bool open_source(struct kernel_image *image, const char *arch, const char *kernel)
{
    if (kernel_image_open(image, SOURCE, arch, NULL, kernel) == 0) return true;
    if (test_without_cuda(has_nvrtc())) return false;
    fail_msg("%s", assay_last_error());
    return false;
}

static void check_source(const char *arch, int sm)
{
    struct kernel_image image;
    if (!open_source(&image, arch, "inner::power<float, 4>")) return;
    assert_int_equal(image.sm, sm);
    assert_int_equal(image.count, 5);
    has_parameters(&image, "scale", 4, 8, 8, 4, 4);
    has_parameters(&image, "plain", 1, 8);
    has_parameters(&image, "power", 3, 8, 20, 8);
    has_parameters(&image, "inner::power<float, 4>", 3, 8, 20, 8);
    lacks(&image, "twice", "more than one kernel 'twice': ");
    if (!image.is_ptx) {
        int registers = kernel_image_find(&image, "scale")->registers;
        assert_true(registers >= 4 && registers <= 64);
        assert_int_equal(kernel_image_find(&image, "scale")->max_threads, 0);
        assert_int_equal(kernel_image_find(&image, "plain")->max_threads, 128);
    }
    kernel_image_release(&image);
}

TEST(a_source_is_compiled_and_listed)
{
    check_source("sm_90a", 90);
    check_source("sm_80", 80);
    check_source("sm_100", 100);
    check_source("compute_80", 80);
}

TEST(a_source_with_an_error_is_refused_by_its_first_error)
{
    struct kernel_image image;
    char path[] = "/tmp/assay-test-XXXXXX.cu";
    int fd = mkstemps(path, 3);
    FILE *out = fdopen(fd, "w");
    fputs("__global__ void k(int *p)\n{\n    *p = nothing;\n}\n", out);
    fclose(out);
    int failed = kernel_image_open(&image, path, "sm_90a", NULL, "k");
    unlink(path);
    assert_int_equal(failed, -1);
    if (test_without_cuda(has_nvrtc())) return;
    assert_non_null(strstr(assay_last_error(), "(3): error: identifier \"nothing\" is undefined"));
    assert_int_equal(kernel_image_open(&image, SOURCE, "sm_7", NULL, "k"), -1);
    assert_int_equal(kernel_image_open(&image, SOURCE, "sm_90a", "-DNO -Wrong", "k"), -1);
    assert_int_equal(kernel_image_open(&image, SOURCE, "sm_90a", NULL, "none<int>"), -1);
}

TEST(every_cut_of_a_cubin_is_survived)
{
    struct kernel_image image, part;
    if (!open_source(&image, "sm_90a", "scale")) return;
    for (size_t size = 0; size < image.size; size += 1 + size / 64) {
        char *bytes = calloc(1, size + 1); /* AddressSanitizer sees what reads behind it */
        memcpy(bytes, image.bytes, size);
        if (kernel_image_read(&part, bytes, size)) continue;
        assert_true(size > image.size / 2); /* the section table is whole */
        kernel_image_release(&part);
    }
    for (size_t i = 0; i < image.size; i += 7) {
        char *bytes = calloc(1, image.size + 1);
        memcpy(bytes, image.bytes, image.size);
        bytes[i] ^= 0x55;
        if (kernel_image_read(&part, bytes, image.size) == 0) kernel_image_release(&part);
    }
    kernel_image_release(&image);
}

TEST(sizes_that_cannot_be_are_not_believed)
{
    static const char long_array[] =
        ".version 8.0\n.target sm_80\n.entry k(.param .align 4 .b32 p[99999999999])\n{ ret; }\n";
    static const unsigned char limit[] = {4, 5, 12, 0, 128, 0, 0, 0}; /* 128 threads at most */
    struct kernel_image image, damaged;
    assert_int_equal(kernel_image_read(&image, strdup(long_array), sizeof long_array - 1), 0);
    has_parameters(&image, "k", 1, 32764);
    kernel_image_release(&image);
    if (!open_source(&image, "sm_90a", "scale")) return;
    char *bytes = calloc(1, image.size + 1), *at = NULL;
    memcpy(bytes, image.bytes, image.size);
    for (size_t i = 0; i + 16 < image.size && !at; i++)
        if (!memcmp(bytes + i, limit, sizeof limit)) at = bytes + i;
    assert_non_null(at);
    memset(at + 4, 0xff, 12);
    assert_int_equal(kernel_image_read(&damaged, bytes, image.size), 0);
    assert_int_equal(kernel_image_find(&image, "plain")->max_threads, 128);
    assert_int_equal(kernel_image_find(&damaged, "plain")->max_threads, 0);
    kernel_image_release(&damaged);
    kernel_image_release(&image);
}

TEST(what_is_no_kernel_file_is_refused)
{
    struct kernel_image image;
    static const char *const texts[] = {"", "\177ELF", "hello", ".version 8.0\n.entry k()"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(kernel_image_read(&image, strdup(texts[i]), strlen(texts[i])), -1);
    assert_int_equal(kernel_image_open(&image, "nowhere.cubin", "sm_90a", NULL, "k"), -1);
    assert_non_null(strstr(assay_last_error(), "nowhere.cubin: cannot be read"));
    assert_int_equal(kernel_image_open(&image, "/proc/self/exe", "sm_90a", NULL, "k"), -1);
    assert_non_null(strstr(assay_last_error(), "not a 64-bit ELF file for CUDA"));
}

TEST(names_lose_what_the_language_adds)
{
    static const char *const names[][2] = {
        {"plain", "plain"},
        {"_Z5scalePKfPfif", "scale"},
        {"_ZN5inner5powerIfLi4EEEvPT_4fivel", "power"},
        {"_ZL6hiddenPf", "hidden"},
        {"_ZN12_GLOBAL__N_14fillEPf", "fill"},
        {"_Z", "_Z"},
        {"_Z99short", "_Z99short"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *plain = kernel_plain_name(names[i][0]);
        assert_string_equal(plain, names[i][1]);
        free(plain);
    }
}
