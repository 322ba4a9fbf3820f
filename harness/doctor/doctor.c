#include <stdarg.h>
#include <string.h>

#include "base/exit_code.h"
#include "doctor/doctor.h"

void doctor_find(struct doctor_finding *finding, enum doctor_state state, const char *format, ...)
{
    va_list arguments;
    finding->state = state;
    va_start(arguments, format);
    vsnprintf(finding->found, sizeof finding->found, format, arguments);
    va_end(arguments);
}

void doctor_advise(struct doctor_finding *finding, const char *means, const char *remedy)
{
    snprintf(finding->means, sizeof finding->means, "%s", means);
    snprintf(finding->remedy, sizeof finding->remedy, "%s", remedy);
}

int doctor_judge(const struct doctor_facts *facts,
                 struct doctor_finding findings[DOCTOR_MAX_FINDINGS])
{
    const struct doctor_check *const tables[] = {doctor_gpu_checks, doctor_host_checks};
    int count = 0;
    for (size_t table = 0; table < sizeof tables / sizeof *tables; table++)
        for (const struct doctor_check *check = tables[table]; check->name; check++) {
            if (count == DOCTOR_MAX_FINDINGS) return count;
            findings[count] = (struct doctor_finding){.name = check->name, .state = DOCTOR_OK};
            if (check->judge(facts, &findings[count])) count++;
        }
    return count;
}

const char *doctor_state_name(enum doctor_state state)
{
    static const char *const names[] = {
        [DOCTOR_OK] = "ok", [DOCTOR_LIMITED] = "limited", [DOCTOR_MISSING] = "missing"};
    return names[state];
}

int doctor_exit(const struct doctor_facts *facts)
{
    return facts->host.is_open || facts->gpu.is_open ? EXIT_FINE : EXIT_NOTHING;
}
