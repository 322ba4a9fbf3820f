/* test_plan_classes.c - sizes that a suite gives by what they fit into. */
#include "plan_fixture.h"

/* The value of `list` for n of scale on this device. */
static int64_t solved(const char *list, const struct device_info *device)
{
    char text[128];
    snprintf(text, sizeof text, "[group a]\noperation = scale\ninput = bf16\nn = %s\n", list);
    struct plan plan = make(text, device, &whole);
    assert_int_equal(plan.count, 1);
    int64_t value = plan.groups[0].shape.value[0];
    plan_release(&plan);
    return value;
}

TEST(l2_is_the_largest_size_within_a_quarter_of_the_cache)
{
    for (int64_t cache = 4096; cache < (int64_t)1 << 32; cache = cache * 5 / 3) {
        struct device_info device = fake_host;
        device.cache_bytes = cache;
        int64_t n = solved("l2", &device), step = n > 1000000 ? 4096 : n > 1024 ? 64 : 1;
        assert_true(3.0 * (double)n <= (double)cache / 4);
        assert_true(3.0 * (double)(n + step) > (double)cache / 4);
        if (n > 1024) assert_int_equal(n % step, 0);
    }
}

TEST(vram_is_the_smallest_size_of_eight_caches)
{
    for (int64_t cache = 4096; cache < (int64_t)1 << 28; cache = cache * 5 / 3) {
        struct device_info device = fake_host;
        device.cache_bytes = cache;
        int64_t n = solved("vram", &device), step = n > 1000000 ? 4096 : n > 1024 ? 64 : 1;
        assert_true(3.0 * (double)n >= 8.0 * (double)cache);
        assert_true(3.0 * (double)(n - step) < 8.0 * (double)cache);
        if (n > 1024) assert_int_equal(n % step, 0);
    }
}

TEST(a_factor_scales_the_bytes_of_a_class)
{
    /* 3 bytes per element, 32 MiB of cache. */
    assert_int_equal(solved("2*l2", &fake_host), (16 << 20) / 3 / 4096 * 4096);
    assert_int_equal(solved("0.5*l2", &fake_host), (4 << 20) / 3 / 4096 * 4096);
    assert_int_equal(solved("0.5*vram", &fake_host), ((128 << 20) / 3 / 4096 + 1) * 4096);
}

TEST(a_class_is_solved_for_the_other_dims_of_its_shape)
{
    struct plan plan =
        make("[group a]\noperation = product\nm = l2\nk = 1023, 2047\n", &fake_host, &whole);
    for (int i = 0; i < 2; i++) {
        struct assay_shape shape = plan.groups[i].shape;
        assert_true(shape_bytes(&shape) <= (8 << 20));
        shape.value[0] += 64;
        assert_true(shape_bytes(&shape) > (8 << 20));
    }
    plan_release(&plan);
}

TEST(a_class_ends_at_the_range_of_its_dim)
{
    struct device_info device = fake_host;
    device.cache_bytes = (int64_t)1 << 40;
    assert_int_equal(solved("l2", &device), 1000000000 / 4096 * 4096); /* all is within */
    device.cache_bytes = 1;
    assert_int_equal(solved("0.1*vram", &device), 1);
}

TEST(a_class_without_a_size_is_an_error_at_its_line)
{
    struct device_info device = fake_host;
    const char *text = "[group a]\noperation = scale\nn = l2, vram\n";
    device.cache_bytes = 16;
    expect_error(text, &device, &whole,
                 "p.ini:3: no value of n brings scale down to the 4 B that l2 is on this device");
    device.cache_bytes = (int64_t)1 << 40;
    expect_error(text, &device, &whole,
                 "p.ini:3: no value of n brings scale up to the 8.00 TiB that vram is on this "
                 "device");
    device.cache_bytes = -1;
    expect_error(text, &device, &whole,
                 "p.ini:3: size class l2: the size of the device's cache is not known");
}

int main(void)
{
    return test_main(enter_suite_folder, leave_suite_folder);
}
