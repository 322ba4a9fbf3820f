#include "trace/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "base/sha256.h"
#include "base/temp_folder.h"
#include "device/nvml.h"
#include "run/interrupt.h"
#include "store/exchange/store_foreign.h"
#include "trace/program.h"
#include "trace/trace_cases.h"

struct recorder {
    const struct recorder_options *options;
    struct store *store; /* open once there is something to store */
    struct run_info run;
    char path[PATH_MAX]; /* of the program, such as can be printed */
    char suite_text[PATH_MAX + 256];
};

/* ------------------------------------------------------------------- run -- */

/* The hash of all arguments with their ends, so that "a b" and "a", "b" differ. */
static void hash_arguments(const char *const *argv, char text[SHA256_TEXT])
{
    struct sha256 hash;
    sha256_begin(&hash);
    for (const char *const *word = argv + 1; *word; word++)
        sha256_add(&hash, *word, strlen(*word) + 1);
    sha256_end(&hash, text);
}

static const char *program_name(const struct recorder *recorder)
{
    const char *name = recorder->options->name;
    return name ? name : foreign_basename(recorder->path);
}

static void describe_run(struct recorder *recorder)
{
    const struct recorder_options *options = recorder->options;
    struct run_info *run = &recorder->run;
    char name[2 * RESULT_MAX_SHAPE], arguments[SHA256_TEXT];
    hash_arguments(options->argv, arguments);
    snprintf(name, sizeof name, "time:%s", program_name(recorder));
    foreign_name(run->suite, sizeof run->suite, name);
    snprintf(run->label, sizeof run->label, "%s", options->label ? options->label : "");
    snprintf(run->command, sizeof run->command, "assay time -- %s", recorder->path);
    for (int i = 1; options->argv[i] && options->keep_command; i++)
        text_add(run->command, sizeof run->command, " ", "%s", options->argv[i]);
    snprintf(recorder->suite_text, sizeof recorder->suite_text,
             "; assay time: the kernels that a program ran\n"
             "program = %s\n"
             "arguments_sha256 = %s\n",
             recorder->path, arguments);
    run->suite_text = recorder->suite_text;
}

/* At the first launch that ran a kernel, and from when that began. */
static int begin_run(struct recorder *recorder, const struct program_run *program)
{
    struct program_info info;
    struct host_info host;
    if (recorder->store) return 0;
    if (store_open(&recorder->store, recorder->options->database, STORE_WRITE) != 0) return -1;
    provenance_program(&info);
    host_describe(&host, "");
    describe_run(recorder);
    recorder->run.started = program->started;
    return store_begin_run(recorder->store, &recorder->run, &info, &host);
}

/* ---------------------------------------------------------------- launch -- */

/* What was lost of a launch, for whoever reads its figures. */
static void say_losses(const struct trace *trace, struct device_info *info)
{
    if (trace->lost)
        text_add(info->lost, sizeof info->lost, "\n", "%llu launches: CUPTI had no record of them",
                 (unsigned long long)trace->lost);
    if (trace->cut)
        text_add(info->lost, sizeof info->lost, "\n",
                 "the last moments of %d of %d processes, which did not end in order", trace->cut,
                 trace->processes);
    if (trace->failed[0])
        text_add(info->lost, sizeof info->lost, "\n", "a process: %s", trace->failed);
}

static void describe_launch(const struct program_run *program, const struct trace *trace,
                            int number, struct launch_info *launch)
{
    const struct trace_device *device = &trace->devices[trace_main_device(trace)];
    *launch = (struct launch_info){.number = number, .started = program->started};
    trace_device_info(device, &launch->device);
    say_losses(trace, &launch->device);
    launch->around = program->around;
    /* The states are of another card where the kernels ran on the second that was seen. */
    bool is_watched = program->uuid[0] && strcmp(program->uuid, device->uuid) == 0;
    if (is_watched)
        launch->start = program->start;
    else
        device_state_init(&launch->start);
    if (nvml_open(device->uuid) == 0) nvml_describe(&launch->device);
    nvml_close();
}

static int store_profiles(struct recorder *recorder, const char *launch_id,
                          const struct trace_cases *cases)
{
    struct profile *profile = malloc(sizeof *profile);
    int status = profile ? 0 : assay_error("out of memory for a profile");
    for (int i = 0; i < cases->count && status == 0; i++) {
        if (cases->list[i].result.status != STATUS_UNCHECKED) continue;
        trace_case_profile(&cases->list[i], profile);
        status = store_profile(recorder->store, launch_id, &cases->list[i].result.id, profile);
    }
    free(profile);
    return status;
}

static int store_launch(struct recorder *recorder, const struct program_run *program,
                        const struct trace *trace, const struct trace_cases *cases, int number)
{
    const struct plan nothing = {0};
    struct group *group = calloc(1, sizeof *group);
    struct case_result *results = calloc((size_t)cases->count + 1, sizeof *results);
    struct launch_info launch;
    int status = -1;
    if (!group || !results) {
        assay_error("out of memory for %d kernels", cases->count);
        goto out;
    }
    snprintf(group->label, sizeof group->label, "%s", cases->list[0].result.id.operation);
    for (int i = 0; i < cases->count; i++)
        results[i] = cases->list[i].result;
    describe_launch(program, trace, number, &launch);
    snprintf(launch.run_id, sizeof launch.run_id, "%s", recorder->run.id);
    status = store_begin_launch(recorder->store, &launch, &nothing);
    if (status == 0)
        status = store_cases(recorder->store, launch.id, group, results, cases->count, NULL);
    if (status == 0) status = store_profiles(recorder, launch.id, cases);
    if (status == 0)
        status = store_end_launch(recorder->store, launch.id, &program->end, &program->around);
out:
    free(results);
    free(group);
    return status;
}

/* Why there is no kernel; always -1. */
static int say_nothing(const struct trace *trace, const struct program_run *program)
{
    char how[ASSAY_MAX_REASON] = "";
    const char *name = program->argv[0];
    if (program->status != 0) process_describe(program->status, how, sizeof how);
    const char *ended = how[0] ? "; it ended with " : "";
    if (trace->failed[0])
        return assay_error("no kernel of %s could be recorded: %s%s%s", name, trace->failed, ended,
                           how);
    if (trace->lost)
        return assay_error("%s: CUPTI had no record of the %llu kernels that ran%s%s", name,
                           (unsigned long long)trace->lost, ended, how);
    if (trace->cut)
        return assay_error("%s opened the GPU and left no record: it ended by _exit, exec or a "
                           "signal, within a quarter of a second of its kernels%s%s",
                           name, ended, how);
    if (trace->processes)
        return assay_error("%s opened the GPU and ran no kernel%s%s", name, ended, how);
    return assay_error("%s ran no kernel: it uses no CUDA, no GPU was found, or it sets "
                       "CUDA_INJECTION64_PATH itself%s%s",
                       name, ended, how);
}

static enum recorder_end record(struct recorder *recorder, const char *folder, int number)
{
    struct program_run program = {.argv = recorder->options->argv, .folder = folder};
    struct trace trace = {0};
    struct trace_cases cases = {0};
    enum recorder_end end = RECORDER_FAILED;
    if (program_run(&program) != 0) return RECORDER_UNSTARTED;
    if (trace_read(&trace, folder) != 0) goto out;
    if (trace.kernel_count == 0) {
        say_nothing(&trace, &program);
        end = interrupt_signal() ? RECORDER_INTERRUPTED
              : number == 1      ? RECORDER_NOTHING
                                 : RECORDER_LOST;
        goto out;
    }
    if (trace_cases_make(&cases, &trace, program_name(recorder), program.clock_reasons) ||
        begin_run(recorder, &program) || store_launch(recorder, &program, &trace, &cases, number))
        goto out;
    end = interrupt_signal() ? RECORDER_INTERRUPTED : RECORDER_COMPLETE;
    if (end == RECORDER_COMPLETE && program.status != 0) {
        char how[ASSAY_MAX_REASON];
        process_describe(program.status, how, sizeof how);
        assay_error("%s ended with %s; what it ran until then is stored", program.argv[0], how);
        end = RECORDER_LOST;
    }
out:
    trace_cases_release(&cases);
    trace_release(&trace);
    return end;
}

static enum recorder_end record_launch(struct recorder *recorder, int number)
{
    struct temp_folder folder;
    enum recorder_end end = RECORDER_FAILED;
    if (temp_folder_make(&folder, "time") != 0) return end;
    if (program_inject(folder.path) == 0) end = record(recorder, folder.path, number);
    temp_folder_remove(&folder);
    return end;
}

/* The first failure is the one that is reported, whatever becomes of the end. */
static enum recorder_end end_run(struct recorder *recorder, enum recorder_end end)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", assay_last_error());
    const char *word = end == RECORDER_COMPLETE ? "complete" : "interrupted";
    if (store_end_run(recorder->store, recorder->run.id, word) != 0 && end == RECORDER_COMPLETE)
        return RECORDER_FAILED;
    return assay_error_as(end, "%s", why);
}

enum recorder_end recorder_run(const struct recorder_options *options, char run_id[STORE_ID])
{
    struct recorder recorder = {.options = options};
    enum recorder_end end = RECORDER_COMPLETE;
    text_printable(recorder.path, sizeof recorder.path, options->argv[0], "");
    interrupt_catch();
    for (int number = 1; number <= options->launches && end == RECORDER_COMPLETE; number++)
        end = record_launch(&recorder, number);
    if (recorder.run.id[0]) end = end_run(&recorder, end);
    snprintf(run_id, STORE_ID, "%s", recorder.run.id);
    if (recorder.store) store_close(recorder.store);
    interrupt_release();
    return end;
}
