#include <stdarg.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "doctor/doctor.h"

WORDS(doctor_state, "ok", "limited", "missing");

void doctor_find(struct doctor_finding *finding, enum doctor_state state, const char *format, ...)
{
    va_list arguments;
    finding->state = state;
    va_start(arguments, format);
    vsnprintf(finding->found, sizeof finding->found, format, arguments);
    va_end(arguments);
}

void doctor_advise(struct doctor_finding *finding, const char *means, const char *remedy, ...)
{
    va_list arguments;
    if (means) snprintf(finding->means, sizeof finding->means, "%s", means);
    va_start(arguments, remedy);
    vsnprintf(finding->remedy, sizeof finding->remedy, remedy, arguments);
    va_end(arguments);
}

static void judge(const struct doctor_facts *facts, const struct doctor_check *check,
                  struct doctor_finding *finding)
{
    const int *is_on = (const int *)((const char *)facts + check->at);
    if (check->judge)
        check->judge(facts, finding);
    else if (*is_on >= 0)
        doctor_find(finding, (*is_on != 0) == check->good ? DOCTOR_OK : DOCTOR_LIMITED,
                    *is_on ? "on" : "off");
}

static bool applies(const struct doctor_check *check, const struct doctor_facts *facts)
{
    const bool has[] = {
        [NEEDS_NOTHING] = true,
        [NEEDS_HOST_ASKED] = facts->host.is_asked,
        [NEEDS_HOST_OPEN] = facts->host.is_open,
        [NEEDS_GPU_ASKED] = facts->gpu.is_asked,
        [NEEDS_GPU_BUILT] = facts->gpu.is_asked && facts->nvcc[0],
        [NEEDS_GPU_OPEN] = facts->gpu.is_open,
    };
    return has[check->needs];
}

/* Advice is for what is not ok: that of the rule, else that of the table. */
static void complete(struct doctor_finding *finding, const struct doctor_check *check)
{
    if (finding->state == DOCTOR_OK) {
        finding->means[0] = finding->remedy[0] = '\0';
        return;
    }
    if (!finding->means[0]) snprintf(finding->means, DOCTOR_TEXT, "%s", check->means);
    if (!finding->remedy[0]) snprintf(finding->remedy, DOCTOR_TEXT, "%s", check->remedy);
}

int doctor_judge(const struct doctor_facts *facts,
                 struct doctor_finding findings[DOCTOR_MAX_FINDINGS])
{
    const struct doctor_check *const tables[] = {doctor_gpu_checks, doctor_host_checks};
    int count = 0;
    for (size_t table = 0; table < sizeof tables / sizeof *tables; table++)
        for (const struct doctor_check *check = tables[table]; check->name; check++) {
            struct doctor_finding *finding = &findings[count];
            *finding = (struct doctor_finding){.name = check->name};
            if (applies(check, facts)) judge(facts, check, finding);
            if (!finding->found[0]) continue;
            complete(finding, check);
            count++;
        }
    return count;
}

int doctor_exit(const struct doctor_facts *facts)
{
    return facts->host.is_open || facts->gpu.is_open ? EXIT_FINE : EXIT_NOTHING;
}
