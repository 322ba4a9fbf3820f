/* test_kernel_name.c - what a case is called by, of a kernel's whole name. */
#include "tests/test.h"
#include "device/demangle.h"

TEST(a_name_keeps_what_tells_it_from_others)
{
    static const struct {
        const char *whole, *name;
    } known[] = {
        {"scale(float*, int)", "scale"},
        {"scale", "scale"},
        {"softmax_kernel_0d1d2", "softmax_kernel_0d1d2"},
        {"_Z5scalePfi", "_Z5scalePfi"},
        {"void softmax<float, 4>(float*, int)", "softmax<float,4>"},
        {"void (anonymous namespace)::softmax<float, 4>(float*)", "softmax<float,4>"},
        {"void at::native::(anonymous namespace)::cat<at::Tensor, unsigned int>(at::Tensor*)",
         "cat<at::Tensor,unsigned_int>"},
        {"void a::run<a::f(int)::{lambda(float)#1}>(a::f(int)::{lambda(float)#1})",
         "run<a::f(int)::{lambda(float)#1}>"},
        {"void k<(Mode)1, (short)2>(int)", "k<(Mode)1,(short)2>"},
        {"ns::Tile<3>::kernel(int (*)(int))", "kernel"},
        {"", ""},
        {")", ")"},
        {"()", "()"},
        {"a<b", "a<b"},
        {"a>b c", "a>b_c"},
        {"a::", "a::"},
    };
    char name[64];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        kernel_short_name(known[i].whole, name, sizeof name);
        assert_string_equal(name, known[i].name);
    }
}

TEST(a_name_is_cut_at_its_field)
{
    char name[5];
    kernel_short_name("void softmax<float>(float*)", name, sizeof name);
    assert_string_equal(name, "soft");
}
