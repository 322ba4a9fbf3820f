#include "measure/fingerprint_pass.h"

#include <inttypes.h>

#include "case/registry.h"
#include "measure/steps.h"

/* What a reader of results takes from the operation and the variant, whatever runs. */
static void add_definition(struct fingerprint *print, const struct measurement *measurement)
{
    const struct assay_variant *variant = measurement->variant;
    const struct case_work *work = &measurement->result->work;
    char ops[ASSAY_MAX_REASON] = "";
    for (int i = 0; i < ASSAY_ARITHMETICS; i++)
        text_add(ops, sizeof ops, " ", "%a", work->ops[i]);
    /* Only where there are any: older programs write no more than the others. */
    if (work->ops[ARITHMETIC_FP8] > 0)
        text_add(ops, sizeof ops, " ", "%a", work->ops[ARITHMETIC_FP8]);
    fingerprint_add(print, "definition: kind %s; clock %d; apart %d; read %a; write %a; ops %s",
                    kind_name(variant->kind), (int)variant->clock, variant->apart, work->read_bytes,
                    work->write_bytes, ops);
}

/* Their sizes, and what the inputs hold. */
static void add_buffers(struct fingerprint *print, const struct buffers *buffers)
{
    for (int i = 0; i < buffers->count; i++) {
        const struct assay_buffer *spec = &buffers->spec[i];
        bool is_input = spec->role == ASSAY_IN;
        fingerprint_add(print, "buffer %d: role %d; type %d; count %" PRId64 "; holds %016" PRIx64,
                        i, (int)spec->role, (int)spec->type, spec->count,
                        is_input ? buffers->sum[i] : 0);
    }
}

/* What decides how code runs, beside the code. Libraries are known once setup has loaded them. */
static void add_versions(struct fingerprint *print, const struct measure_context *context,
                         const struct measurement *measurement)
{
    struct device_info device;
    char libraries[RESULT_MAX_PROPERTY];
    context->ops->describe(context->device, &device);
    registry_libraries((enum assay_place)device.place, libraries, sizeof libraries);
    fingerprint_add(print, "device: name %s; uuid %s; driver %s; runtime %s; libraries %s",
                    device.name, device.uuid, device.driver, device.runtime, libraries);
    fingerprint_add(print, "setup: chose %s; workspace %" PRId64 "; temperature %s",
                    measurement->call.note, measurement->call.workspace_bytes,
                    temperature_name(measurement->call.temperature));
}

static int trace(struct measure_context *context, const struct measurement *measurement,
                 enum trace_step step, struct fingerprint *print)
{
    if (!context->ops->trace) return 0;
    return context->ops->trace(context->device, step, measurement->variant, print);
}

/* Two launches: what the first one does for the first time only is told from what each does. */
static int trace_launches(struct measurement *measurement, struct measure_context *context,
                          struct fingerprint *print)
{
    for (int i = 0; i < 2; i++) {
        if (trace(context, measurement, TRACE_LAUNCH, print) < 0) return -1;
        int status = step_launch(measurement, context, STEP_FIRST_LAUNCH, 1);
        if (status < 0 || measurement->phase == MEASUREMENT_OVER) return status;
    }
    return 0;
}

static int take(struct measurement *measurement, struct measure_context *context,
                struct fingerprint *print, const char *program)
{
    const struct assay_variant *variant = measurement->variant;
    fingerprint_begin(print, &measurement->result->id);
    snprintf(print->program, sizeof print->program, "%s", program);
    print->needs_program = !context->ops->trace || variant->clock == ASSAY_CLOCK_WALL;
    add_definition(print, measurement);
    add_buffers(print, &context->buffers);
    if (trace(context, measurement, TRACE_SETUP, print) < 0) return -1;
    int status = step_set_up(measurement, context);
    if (status == 0 && measurement->phase != MEASUREMENT_OVER) {
        add_versions(print, context, measurement);
        status = trace_launches(measurement, context, print);
    }
    if (trace(context, measurement, TRACE_END, print) < 0) return -1;
    fingerprint_end(print);
    if (measurement->phase == MEASUREMENT_OVER) print->count = 0; /* it has none */
    return status;
}

int fingerprint_group(struct measure_context *context)
{
    char program[PROGRAM_CODE];
    program_code(program);
    for (int i = 0; i < context->request->count; i++) {
        struct measurement *measurement = &context->measurements[i];
        context->culprit = i;
        if (take(measurement, context, &context->request->prints[i], program) < 0) return -1;
        measurement_teardown(measurement, context);
        if (context->ops->synchronize(context->device) < 0) return -1;
    }
    return 0;
}
