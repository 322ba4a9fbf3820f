/* cmd_doctor.c - assay doctor: what this machine can and cannot measure. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "cmd/commands.h"
#include "doctor/doctor.h"

const char usage_doctor[] =
    "usage: assay doctor [--device auto|cuda:N|host] [--format table|json] [--db FILE]\n"
    "\n"
    "Looks at everything a measurement depends on, says of each thing whether it is\n"
    "ok, limited or missing, what that means for the figures, and what to do.\n"
    "Changes nothing.\n"
    "\n"
    "  --device WHICH   ask this device only (auto: the host and the first GPU)\n"
    "  --format FORMAT  table (default) or json\n"
    "  --db FILE        the database to look at (default: ASSAY_DB, else\n"
    "                   results/assay.sqlite)\n"
    "\n"
    "example: assay doctor\n"
    "\n"
    "Exit: 0 when a device can be measured, 4 when none can.\n";

const struct option options_doctor[] = {{"device", required_argument, NULL, 'd'},
                                        {"format", required_argument, NULL, 'f'},
                                        {"db", required_argument, NULL, 'b'},
                                        {0}};

/* Which devices `spec` names; false when it names none. */
static bool choose(const char *spec, struct doctor_options *options)
{
    bool is_auto = strcmp(spec, "auto") == 0;
    bool is_cuda =
        strcmp(spec, "cuda") == 0 || (strncmp(spec, "cuda:", 5) == 0 && spec[5] != '\0' &&
                                      spec[5 + strspn(spec + 5, "0123456789")] == '\0');
    options->host = is_auto || strcmp(spec, "host") == 0;
    options->gpu = is_auto || is_cuda;
    options->gpu_spec = is_cuda ? spec : "cuda:0";
    return options->host || options->gpu;
}

static int misused(const char *what, const char *given, const char *right)
{
    char message[256];
    snprintf(message, sizeof message, "%s '%.100s' (%s)", what, given, right);
    return command_misused("doctor", message);
}

static int report(const struct doctor_options *options, bool as_json)
{
    struct doctor_facts facts;
    struct doctor_finding findings[DOCTOR_MAX_FINDINGS];
    doctor_gather(&facts, options);
    int count = doctor_judge(&facts, findings);
    if (!as_json) {
        doctor_write_table(stdout, &facts, findings, count);
    } else if (doctor_write_json(stdout, &facts, findings, count)) {
        fprintf(stderr, "assay doctor: %s\n", assay_last_error());
        return EXIT_USAGE;
    }
    return doctor_exit(&facts);
}

int cmd_doctor(int argc, char **argv)
{
    const char *device = "auto", *format = "table", *database = NULL;
    for (int c; (c = getopt_long(argc, argv, ":", options_doctor, NULL)) != -1;) {
        if (c == 'd')
            device = optarg;
        else if (c == 'f')
            format = optarg;
        else if (c == 'b')
            database = optarg;
        else
            return command_bad_option("doctor", argv, options_doctor, c);
    }
    struct doctor_options options = {.database = command_database(database), .root = ""};
    if (optind < argc) return misused("unexpected argument", argv[optind], "it takes options only");
    if (strcmp(format, "table") && strcmp(format, "json"))
        return misused("unknown format", format, "table, json");
    if (!choose(device, &options))
        return misused("there is no device", device, "auto, cuda:N, host");
    return report(&options, strcmp(format, "json") == 0);
}
