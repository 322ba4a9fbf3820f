/*
 * test_cubin_identity.c - which cubins are the same code. Compiled here by the toolkit's own tools,
 * in pairs that differ in one thing; where there are none these are skipped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/temp_folder.h"
#include "device/cuda/cubin_identity.h"
#include "device/cuda/module_set.h"
#include "synthetic_cubin.h"

static struct temp_folder folder;

static bool has_tool(const char *tool)
{
    char command[256];
    snprintf(command, sizeof command,
             "PATH=$PATH:/usr/local/cuda/bin command -v %s >/dev/null 2>&1", tool);
    return system(command) == 0;
}

/* Bytes of a file in the folder. */
static size_t read_file(const char *name, unsigned char **bytes)
{
    char path[5000];
    snprintf(path, sizeof path, "%s/%s", folder.path, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(size + 1);
    assert_int_equal(fread(*bytes, 1, size, file), size);
    fclose(file);
    return size;
}

static void write_file(const char *name, const char *text)
{
    char path[5000];
    snprintf(path, sizeof path, "%s/%s", folder.path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void sh(const char *command)
{
    char line[8000];
    snprintf(line, sizeof line, "cd %s && PATH=$PATH:/usr/local/cuda/bin && %s >log 2>&1",
             folder.path, command);
    if (system(line) != 0) fail_msg("%s", line);
}

static struct code_hash identity_of(const char *name)
{
    unsigned char *bytes;
    struct code_hash hash;
    size_t size = read_file(name, &bytes);
    assert_int_equal(cubin_identity(bytes, size, &hash), 0);
    free(bytes);
    return hash;
}

static bool same(struct code_hash a, struct code_hash b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ------------------------------------------------------------------- PTX -- */

/* A kernel with a constant, a variable, shared memory and a function that it calls. */
static const char ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".const .align 4 .f32 table[4] = {0f3f800000, 0f40000000, 0f40400000, 0f40800000};\n"
    ".global .align 8 .u32 counter = 7;\n"
    ".func (.param .b32 r) callee(.param .b32 a)\n{\n.reg .f32 %f<3>;\n"
    "ld.param.f32 %f1, [a];\nmul.f32 %f2, %f1, 0f40400000;\nst.param.f32 [r], %f2;\nret;\n}\n"
    ".visible .entry scale(.param .u64 p, .param .u32 n) .maxntid 256, 1, 1\n{\n"
    ".reg .u64 %rd<4>;\n.reg .f32 %f<5>;\n.reg .u32 %r<5>;\n.shared .align 16 .b8 tile[1024];\n"
    "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd2, %rd2, %rd3;\nld.global.f32 %f1, [%rd2];\n"
    "ld.const.f32 %f2, [table+4];\nadd.f32 %f1, %f1, %f2;\nld.global.u32 %r2, [counter];\n"
    "mov.u32 %r3, tile;\nst.shared.u32 [%r3], %r2;\nbar.sync 0;\nld.shared.u32 %r4, [%r3+4];\n"
    "st.global.u32 [%rd2+4096], %r4;\n{\n.param .b32 a;\n.param .b32 r;\nst.param.f32 [a], %f1;\n"
    "call.uni (r), callee, (a);\nld.param.f32 %f3, [r];\n}\nst.global.f32 [%rd2], %f3;\nret;\n}\n"
    ".visible .entry other(.param .u64 p)\n{\nret;\n}\n";

static struct code_hash ptx_identity(const char *text)
{
    write_file("k.ptx", text);
    sh("ptxas -arch=sm_80 -o k.cubin k.ptx");
    return identity_of("k.cubin");
}

/* The text with `from`, which is there, replaced. */
static void replaced(const char *from, const char *to, char out[4096])
{
    const char *at = strstr(ptx, from);
    assert_non_null(at);
    snprintf(out, 4096, "%.*s%s%s", (int)(at - ptx), ptx, to, at + strlen(from));
}

TEST(each_change_is_seen)
{
    static const char *const changes[][2] = {
        {"0f40000000, 0f40400000, 0f40800000};", "0f40000000, 0f40400000, 0f40800001};"},
        {"mul.f32 %f2, %f1, 0f40400000", "mul.f32 %f2, %f1, 0f40400001"}, /* of the callee */
        {".maxntid 256, 1, 1", ".maxntid 512, 1, 1"},
        {".maxntid 256, 1, 1", ".maxntid 256, 1, 1 .minnctapersm 2"},
        {".global .align 8 .u32 counter = 7", ".global .align 8 .u32 counter = 8"},
        {".global .align 8 .u32 counter = 7", ".global .align 64 .u32 counter = 7"},
        {".b8 tile[1024]", ".b8 tile[2048]"},
        {".shared .align 16", ".shared .align 128"},
        {"ld.const.f32 %f2, [table+4]", "ld.const.f32 %f2, [table+8]"},
        {"ld.shared.u32 %r4, [%r3+4]", "ld.shared.u32 %r4, [%r3+8]"},
        {".param .u64 p, .param .u32 n)", ".param .u64 p, .param .u64 n)"},
        {".visible .entry other(.param .u64 p)\n{\nret;",
         ".visible .entry other(.param .u64 p)\n{\nexit;"},
        {".visible .entry other(", ".visible .entry another("},
        {"bar.sync 0;\n", ""},
    };
    if (test_without_cuda(has_tool("ptxas"))) return;
    struct code_hash first = ptx_identity(ptx);
    assert_true(same(first, ptx_identity(ptx)));
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char text[4096];
        replaced(changes[i][0], changes[i][1], text);
        bool is_same = same(first, ptx_identity(text));
        /* ret and exit of an entry are the same machine code: what is no change is none here. */
        if (is_same != (strstr(changes[i][1], "exit") != NULL))
            fail_msg("%s: %s", changes[i][1], is_same ? "not seen" : "seen");
    }
}

/* What only says where the source stood is in other sections. */
TEST(comments_and_lines_are_no_change)
{
    char text[4096];
    if (test_without_cuda(has_tool("ptxas"))) return;
    struct code_hash first = ptx_identity(ptx);
    replaced("bar.sync 0;", "// a comment\n\n\nbar.sync 0;", text);
    assert_true(same(first, ptx_identity(text)));

    struct code_hash located[2];
    for (int i = 0; i < 2; i++) {
        replaced("ld.const.f32", i ? ".loc 1 77 3\nld.const.f32" : ".loc 1 5 1\nld.const.f32",
                 text);
        strcat(text, i ? ".file 1 \"/somewhere/else/longer.cu\"\n" : ".file 1 \"k.cu\"\n");
        write_file("k.ptx", text);
        sh("ptxas -arch=sm_80 -lineinfo -o k.cubin k.ptx");
        located[i] = identity_of("k.cubin");
    }
    assert_true(same(located[0], located[1]));
}

/* ------------------------------------------------------------------ nvcc -- */

/* Names that are local to a file have a number of its path and options in them. */
TEST(another_folder_is_no_change)
{
    if (test_without_cuda(has_tool("nvcc"))) return;
    write_file(
        "k.cu",
        "namespace { __constant__ float table[64]; __device__ int counter;\n"
        "__device__ __noinline__ float callee(float x) { return x * 3 + table[threadIdx.x & 63]; "
        "}\n"
        "__global__ void __launch_bounds__(256) local(float *p)\n"
        "{ p[threadIdx.x] = callee(p[threadIdx.x]); atomicAdd(&counter, 1); } }\n"
        "template <int N> static __global__ void fixed(float *p, int n) { if (n > N) p[0] = 1; }\n"
        "void go(float *p) { local<<<1, 256>>>(p); fixed<3><<<1, 1>>>(p, 3); }\n");
    sh("mkdir -p a b/c && cp k.cu a && cp k.cu b/c && (cd a && nvcc -arch=sm_80 -lineinfo -cubin "
       "-o k.cubin k.cu)"
       " && nvcc -arch=sm_80 -lineinfo -cubin -o b/c/k.cubin b/c/k.cu");
    assert_true(same(identity_of("a/k.cubin"), identity_of("b/c/k.cubin")));
    sh("rm -r a b"); /* temp_folder_remove takes files alone */
}

TEST(a_local_name_loses_its_number)
{
    static const char *const names[][2] = {
        {"_ZN30_GLOBAL__N__292f253a_4_k_cu_go4anonEPf", "_ZN30_GLOBAL__N___4_k_cu_go4anonEPf"},
        {"$_Z1a$_ZN28_INTERNAL_292f253a_4_k_cu_go30_GLOBAL__N__292f253a_4_k_cu_go6calleeEf",
         "$_Z1a$_ZN28_INTERNAL__4_k_cu_go30_GLOBAL__N___4_k_cu_go6calleeEf"},
        {"_Z5scalePfi", "_Z5scalePfi"},
        {"_GLOBAL__N__292f25_4", "_GLOBAL__N__292f25_4"},
        {"", ""},
    };
    char plain[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cubin_plain_local(names[i][0], plain, sizeof plain);
        assert_string_equal(plain, names[i][1]);
    }
    cubin_plain_local("_ZN30_GLOBAL__N__292f253a_4", plain, 8);
    assert_string_equal(plain, "_ZN30_G");
}

/* --------------------------------------------------------------- modules -- */

TEST(a_kernel_is_found_with_its_parameters)
{
    unsigned char *bytes;
    struct module_kernel scale, other, again;
    char text[4096];
    if (test_without_cuda(has_tool("ptxas"))) return;
    struct module_set *set = module_set_new();
    assert_non_null(set);
    struct code_hash identity = ptx_identity(ptx);
    size_t size = read_file("k.cubin", &bytes);
    assert_int_equal(module_set_add(set, bytes, size), 0);
    assert_int_equal(module_set_add(set, bytes, size), 0); /* once more is the same one */
    assert_int_equal(module_set_add(set, "no cubin", 8), 0);
    free(bytes);
    assert_int_equal(module_set_find(set, "scale", &scale), 0);
    assert_int_equal(scale.modules, 1);
    assert_int_equal(scale.parameters, 2);
    assert_int_equal(scale.parameter_bytes[0], 8);
    assert_int_equal(scale.parameter_bytes[1], 4);
    assert_true(same(scale.code, identity));
    assert_int_equal(module_set_find(set, "other", &other), 0);
    assert_true(same(other.code, identity)); /* of the module as a whole */
    assert_int_equal(module_set_find(set, "callee", &again), 0);
    assert_int_equal(again.modules, 0); /* no kernel */
    assert_int_equal(module_set_find(set, "none", &again), 0);
    assert_int_equal(again.modules, 0);

    /* Another module with a kernel of this name: either may be the one that runs. */
    replaced(".param .u64 p, .param .u32 n)", ".param .u64 p, .param .u64 n)", text);
    ptx_identity(text);
    size = read_file("k.cubin", &bytes);
    assert_int_equal(module_set_add(set, bytes, size), 0);
    free(bytes);
    assert_int_equal(module_set_find(set, "scale", &again), 0);
    assert_int_equal(again.modules, 2);
    assert_int_equal(again.parameters, -1);
    assert_false(same(scale.code, again.code));
    module_set_free(set);
}

/* ---------------------------------------------------------------- damage -- */

TEST(damage_is_refused_or_changes_the_hash)
{
    static const struct synthetic_function functions[] = {{"a", "0123456789abcdef", 16},
                                                          {"b", "fedcba9876543210", 16}};
    unsigned char cubin[SYNTHETIC_MAX], copy[SYNTHETIC_MAX];
    struct code_hash first, hash;
    size_t size = synthetic_cubin(cubin, functions, 2);
    assert_int_equal(cubin_identity(cubin, size, &first), 0);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *part = malloc(cut + 1); /* so that a sanitiser sees the end */
        memcpy(part, cubin, cut);
        assert_int_equal(cubin_identity(part, cut, &hash), -1);
        free(part);
    }
    for (size_t at = size - 32; at < size; at++) { /* the code */
        memcpy(copy, cubin, size);
        copy[at] ^= 1;
        assert_int_equal(cubin_identity(copy, size, &hash), 0);
        assert_false(same(first, hash));
    }
}

/* More than 4 KiB of parameters are told in another form. */
TEST(large_parameters_are_found_too)
{
    static const char large[] =
        ".version 8.1\n.target sm_80\n.address_size 64\n"
        ".visible .entry large(.param .align 8 .b8 table[6000], .param .u32 n)\n{ ret; }\n";
    unsigned char *bytes;
    struct module_kernel kernel;
    if (test_without_cuda(has_tool("ptxas"))) return;
    struct module_set *set = module_set_new();
    assert_non_null(set);
    ptx_identity(large);
    size_t size = read_file("k.cubin", &bytes);
    assert_int_equal(module_set_add(set, bytes, size), 0);
    free(bytes);
    assert_int_equal(module_set_find(set, "large", &kernel), 0);
    assert_int_equal(kernel.parameters, 2);
    assert_int_equal(kernel.parameter_bytes[0], 6000);
    assert_int_equal(kernel.parameter_bytes[1], 4);
    module_set_free(set);
}

int main(void)
{
    if (temp_folder_make(&folder, "cubin") != 0) return 1;
    int failed = test_main(NULL, NULL);
    temp_folder_remove(&folder);
    return failed;
}
