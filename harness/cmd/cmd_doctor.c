/* cmd_doctor.c - `assay doctor`: what this machine can and cannot measure. */
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "case/card.h"
#include "cmd/options.h"
#include "device/device.h"
#include "doctor/doctor.h"

struct arguments {
    struct given given;
    const char *device, *format;
    const char *db;
    struct doctor_options doctor;
};

static int check(void *given)
{
    static const char *const names[] = {"auto", "cuda", "host"};
    char hint[TEXT_HINT];
    struct arguments *arguments = given;
    struct doctor_options *options = &arguments->doctor;
    const char *device = arguments->device;
    bool is_auto = strcmp(device, "auto") == 0;
    struct card_spec spec;
    bool is_cuda = strcmp(device, "cuda") == 0 || strncmp(device, "cuda:", 5) == 0;
    if (is_cuda && card_spec_parse(device, &spec) < 0) return -1;
    if (device_choice(device) == DEVICE_ALL)
        return assay_error("--device: one GPU at a time, as in cuda:0");
    options->host = is_auto || strcmp(device, "host") == 0;
    options->gpu = is_auto || is_cuda;
    options->gpu_spec = is_cuda ? device : "cuda:0";
    if (options->host || options->gpu) return 0;
    rows_hint(hint, device, ROWS(names), NULL);
    return assay_error("there is no device '%.100s'%s", device,
                       hint[0] ? hint : " (auto, cuda:N, host)");
}

static int run(void *given)
{
    struct arguments *arguments = given;
    struct doctor_facts facts;
    struct doctor_finding findings[DOCTOR_MAX_FINDINGS];
    arguments->doctor.database = arguments->db;
    arguments->doctor.root = "";
    doctor_gather(&facts, &arguments->doctor);
    int count = doctor_judge(&facts, findings);
    if (strcmp(arguments->format, "table") == 0)
        doctor_write_table(stdout, &facts, findings, count, terminal_columns());
    else if (doctor_write_json(stdout, &facts, findings, count))
        return -1;
    return doctor_exit(&facts);
}

static const struct command_option options[] = {
    {"device", VALUE_DEVICE, "D", AT(device),
     .help = "look at this one alone: cuda:N or host (default auto: the host and the first GPU)"},
    OPTION_FORMAT("table json"),
    OPTION_DB,
    {0},
};

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "what this machine can and cannot measure",
    .options = options,
    .only = "it takes options only",
    .about = "Looks at everything that a measurement depends on, says of each thing whether it\n"
             "is ok, limited or missing, what that means for the figures, and what to do.\n"
             "Changes nothing.\n",
    .examples = "assay doctor",
    .exit = "0 when a device can be measured, 2 usage, 4 when none can.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.device = "auto", .format = "table"},
    .check = check,
    .run = run,
};
