/*
 * layout.c - prints what objects rely on: where each field of the structs of assay.h stands, and
 * the value of each name. tests/cli/abi.sh compiles it with assay.h and with those that were
 * released; what it printed then must be the same today. MINOR is the minor version of the older
 * one: later names are not asked for.
 */
#include <assay.h>
#include <stdio.h>

#define FIELD(type, member)                                                                        \
    printf("struct %s.%s at %zu, %zu bytes\n", #type, #member, offsetof(struct type, member),      \
           sizeof(((struct type *)0)->member))
#define VALUE(name) printf("%s = %lld\n", #name, (long long)name)

#define SIZE(type) printf("struct %s has %zu bytes\n", #type, sizeof(struct type))

int main(int argc, char **argv)
{
    (void)argv;
    FIELD(assay_dim, name);
    FIELD(assay_dim, summary);
    FIELD(assay_dim, choices);
    FIELD(assay_dim, fallback);
    FIELD(assay_dim, min);
    FIELD(assay_dim, max);
    FIELD(assay_shape, operation);
    FIELD(assay_shape, value);
    FIELD(assay_fill, kind);
    FIELD(assay_fill, a);
    FIELD(assay_fill, b);
    FIELD(assay_fill, hard);
    FIELD(assay_fill, hard_count);
    FIELD(assay_fill, hard_every);
    FIELD(assay_fill, hard_until);
    FIELD(assay_buffer, name);
    FIELD(assay_buffer, role);
    FIELD(assay_buffer, type);
    FIELD(assay_buffer, count);
    FIELD(assay_buffer, fill);
    FIELD(assay_buffer, constant);
    FIELD(assay_work, read_bytes);
    FIELD(assay_work, write_bytes);
    FIELD(assay_work, ops);
    FIELD(assay_work, over_link);
    FIELD(assay_tolerance, abs);
    FIELD(assay_tolerance, rel);
    FIELD(assay_tolerance, near_share);
    FIELD(assay_metric, name);
    FIELD(assay_metric, value);
    FIELD(assay_span, name);
    FIELD(assay_span, lane);
    FIELD(assay_span, begin_ns);
    FIELD(assay_span, end_ns);
    FIELD(assay_card, sm);
    FIELD(assay_card, arch_specific);
    FIELD(assay_card, multiprocessors);
    FIELD(assay_card, shared_bytes);
    FIELD(assay_card, shared_sm_bytes);
    FIELD(assay_card, l2_bytes);
    FIELD(assay_operation, name);
    FIELD(assay_operation, summary);
    FIELD(assay_operation, dims);
    FIELD(assay_operation, supports);
    FIELD(assay_operation, buffers);
    FIELD(assay_operation, fill);
    FIELD(assay_operation, work);
    FIELD(assay_operation, reference);
    FIELD(assay_operation, reference_cost);
    FIELD(assay_operation, reference_run);
    FIELD(assay_operation, product_columns);
    FIELD(assay_operation, product_check);
    FIELD(assay_operation, tolerance);
    FIELD(assay_operation, match);
    FIELD(assay_operation, rms);
    FIELD(assay_operation, quality);
    FIELD(assay_operation, baselines);
    FIELD(assay_operation, ceiling);
    FIELD(assay_operation, data_dims);
#if MINOR >= 2
    FIELD(assay_operation, fp8_ops);
#endif
    FIELD(assay_call, shape);
    FIELD(assay_call, buffer);
    FIELD(assay_call, state);
    FIELD(assay_call, stream);
    FIELD(assay_call, workspace_bytes);
    FIELD(assay_call, note);
    FIELD(assay_call, temperature);
    FIELD(assay_call, variant);
    FIELD(assay_variant, operation);
    FIELD(assay_variant, name);
    FIELD(assay_variant, summary);
    FIELD(assay_variant, kind);
    FIELD(assay_variant, place);
    FIELD(assay_variant, clock);
    FIELD(assay_variant, min_sm);
    FIELD(assay_variant, max_sm);
    FIELD(assay_variant, arch_specific);
    FIELD(assay_variant, apart);
    FIELD(assay_variant, supports);
    FIELD(assay_variant, shared_bytes);
    FIELD(assay_variant, setup);
    FIELD(assay_variant, launch);
    FIELD(assay_variant, teardown);
    FIELD(assay_variant, model);
    FIELD(assay_variant, check);
    FIELD(assay_variant, figures);
    FIELD(assay_variant, spans);
    FIELD(assay_library, place);
    FIELD(assay_library, load);
    FIELD(assay_library, version);
    FIELD(assay_object, abi_major);
    FIELD(assay_object, abi_minor);
    FIELD(assay_object, object_bytes);
    FIELD(assay_object, operation_bytes);
    FIELD(assay_object, variant_bytes);
    FIELD(assay_object, library_bytes);
    FIELD(assay_object, fixed_bytes);
    FIELD(assay_object, operation_count);
    FIELD(assay_object, variant_count);
    FIELD(assay_object, library_count);
    FIELD(assay_object, commit);
    FIELD(assay_object, operations);
    FIELD(assay_object, variants);
    FIELD(assay_object, libraries);
    VALUE(ASSAY_MAX_DIMS);
    VALUE(ASSAY_MAX_BUFFERS);
    VALUE(ASSAY_MAX_METRICS);
    VALUE(ASSAY_MAX_SPANS);
    VALUE(ASSAY_MAX_NAME);
    VALUE(ASSAY_MAX_NOTE);
    VALUE(ASSAY_MAX_REASON);
    VALUE(ASSAY_F32);
    VALUE(ASSAY_F64);
    VALUE(ASSAY_F16);
    VALUE(ASSAY_BF16);
    VALUE(ASSAY_I8);
    VALUE(ASSAY_U8);
    VALUE(ASSAY_I16);
    VALUE(ASSAY_I32);
    VALUE(ASSAY_U32);
    VALUE(ASSAY_I64);
#if MINOR >= 1
    VALUE(ASSAY_E4M3);
    VALUE(ASSAY_E5M2);
#endif
    VALUE(ASSAY_COLD);
    VALUE(ASSAY_HOT);
    VALUE(ASSAY_IN);
    VALUE(ASSAY_OUT);
    VALUE(ASSAY_SCRATCH);
    VALUE(ASSAY_FILL_UNIFORM);
    VALUE(ASSAY_FILL_NORMAL);
    VALUE(ASSAY_FILL_INTEGER);
    VALUE(ASSAY_FILL_CUSTOM);
    VALUE(ASSAY_FP32);
    VALUE(ASSAY_TF32);
    VALUE(ASSAY_BF16_OPS);
    VALUE(ASSAY_FP16_OPS);
    VALUE(ASSAY_INT8_OPS);
    VALUE(ASSAY_FP64);
    VALUE(ASSAY_ARITHMETICS);
    VALUE(ASSAY_EXACT);
    VALUE(ASSAY_NEAR);
    VALUE(ASSAY_WRONG);
    VALUE(ASSAY_KERNEL);
    VALUE(ASSAY_BASELINE);
    VALUE(ASSAY_BOUND);
    VALUE(ASSAY_REFERENCE);
    VALUE(ASSAY_HOST);
    VALUE(ASSAY_CUDA);
    VALUE(ASSAY_CLOCK_DEVICE);
    VALUE(ASSAY_CLOCK_WALL);
    VALUE(ASSAY_SKIP);
    VALUE(ASSAY_ABI_MAJOR);
    VALUE(ASSAY_FIXED_BYTES);
    if (argc == 1) return 0; /* with an argument: sizes, which grow with the minor version */
    VALUE(ASSAY_ABI_MINOR);
    SIZE(assay_dim);
    SIZE(assay_shape);
    SIZE(assay_fill);
    SIZE(assay_buffer);
    SIZE(assay_work);
    SIZE(assay_tolerance);
    SIZE(assay_metric);
    SIZE(assay_span);
    SIZE(assay_card);
    SIZE(assay_operation);
    SIZE(assay_call);
    SIZE(assay_variant);
    SIZE(assay_library);
    SIZE(assay_object);
    return 0;
}
