/* cmd_bench.c - `assay bench`: measure kernels that stand in files of their own. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/temp_folder.h"
#include "base/terminal.h"
#include "base/text.h"
#include "bench/bench.h"
#include "cmd/bench_text.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "cmd/run_command.h"
#include "object/object.h"
#include "show/view.h"

struct arguments {
    struct given given;
    struct runner_options runner;
    struct bench_text text;
    const char *format, *arch;
};

static bool is_description(const char *path)
{
    return text_ends(path, BENCH_ENDING);
}

/* The options that say what a kernel is; a description says it itself. */
#define KERNEL_OPTIONS                                                                             \
    "kernel name size arg grid block shared cluster bytes flops expect tolerance compiler "        \
    "temperature"

static int check(void *given)
{
    struct arguments *arguments = given;
    const struct given *typed = &arguments->given;
    const char *said = option_given(typed, KERNEL_OPTIONS);
    int described = 0;
    for (int i = 0; i < typed->count; i++)
        described += is_description(typed->word[i]);
    if (described < typed->count && typed->count > 1)
        return assay_error("one kernel file only (a " BENCH_ENDING " file describes several)");
    if (described && said)
        return assay_error("--%s is for a kernel file: %s says it itself", said, typed->word[0]);
    if (!described && !kernel_image_is_file(typed->word[0]))
        return assay_error("%s: a kernel is in a .cu, .cubin or .ptx file, or described in "
                           "a " BENCH_ENDING " file",
                           typed->word[0]);
    if (option_given(typed, "arch") && !arguments->runner.dry_run)
        return assay_error("--arch is for --dry-run: a launch is compiled for its card");
    return run_command_check(&arguments->runner, typed);
}

/* --------------------------------------------------------------- dry run -- */

static int describe(const struct bench *bench, const struct bench_kernel *kernel, const char *arch)
{
    struct kernel_image image;
    if (kernel_image_open(&image, kernel->file, arch, kernel->options, kernel->kernel)) return -1;
    const struct kernel_entry *entry = bench_entry(bench, kernel, &image);
    if (entry) {
        printf("%s/%s: %s of %s, %s %d", bench->name, kernel->name, entry->name,
               text_file_name(kernel->file), image.is_ptx ? "PTX of sm" : "sm", image.sm);
        if (entry->registers >= 0) printf(", %d registers", entry->registers);
        printf(", %d arguments\n", bench->argument_count);
    }
    kernel_image_release(&image);
    return entry ? 0 : -1;
}

/* What can be known of the kernels without a GPU, their sources compiled. */
static int describe_all(const char *arch)
{
    struct bench *const *list;
    int count = bench_list(&list);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < list[i]->kernel_count; k++)
            if (describe(list[i], &list[i]->kernel[k], arch)) return -1;
    return 0;
}

/* ------------------------------------------------------------------- run -- */

static int print_run(const struct given *given, const char *run_id)
{
    const struct arguments *arguments = (const void *)given;
    const struct show_options show = {
        .format = arguments->format, .colour = terminal_colour(), .width = terminal_columns()};
    struct stored_run run;
    if (run_choice_read(&run, false, run_id, arguments->runner.database)) return -1;
    int code = show_run(stdout, &run, &show) ? -1 : view_exit_code(&run);
    if (code >= 0 && strcmp(show.format, "table") == 0)
        run_choice_say_next(&run, NULL, arguments->runner.database, false);
    stored_run_release(&run);
    return code;
}

static int measure(const struct arguments *arguments)
{
    const struct runner_options *runner = &arguments->runner;
    if (objects_load(runner->suites, runner->suite_count)) return -1;
    if (runner->dry_run && describe_all(arguments->arch)) return -1;
    return run_command(&arguments->given, runner, print_run);
}

/* The text was made of the options: its place says nothing to who typed them. */
static int without_place(const char *path)
{
    char why[1024];
    text_copy(why, sizeof why, assay_last_error());
    size_t length = strlen(path);
    if (strncmp(why, path, length)) return -1;
    const char *text = why + length + strspn(why + length, ":0123456789 ");
    return assay_error("%s", text);
}

static int measure_typed(struct arguments *arguments)
{
    struct temp_folder folder;
    char path[PATH_MAX + ASSAY_MAX_NAME + 16], name[ASSAY_MAX_NAME];
    if (temp_folder_make(&folder, "bench")) return -1;
    arguments->text.file = arguments->given.word[0];
    bench_text_name(&arguments->text, name);
    snprintf(path, sizeof path, "%s/%s" BENCH_ENDING, folder.path, name);
    FILE *out = fopen(path, "w");
    int code =
        out ? bench_text_write(out, &arguments->text) : assay_error("%s: cannot write", path);
    if (out && fclose(out) && !code) code = assay_error("%s: cannot write", path);
    arguments->runner.suites[0] = path;
    if (code == 0) code = measure(arguments);
    if (code < 0) without_place(path);
    temp_folder_remove(&folder);
    return code;
}

static int run(void *given)
{
    struct arguments *arguments = given;
    return is_description(arguments->given.word[0]) ? measure(arguments) : measure_typed(arguments);
}

static const struct command_option options[] = {
    {"kernel", VALUE_TEXT, "NAME", AT(text.kernel),
     .help = "which kernel of the file: its name in the source, or all of the linker's; an "
             "instance of a template too"},
    {"size", VALUE_EACH, "NAME=N", AT(text.sizes),
     .help = "a size for the expressions, n=1Mi; several values (n=1Mi..64Mi*4) are measured one "
             "after the other"},
    {"arg", VALUE_EACH, "TEXT", AT(text.arguments),
     .help = "an argument, in order: 'in f32[n] normal', 'out f32[n]', 'scratch u8[n]', 'i32 n', "
             "null; with a name, 'x=in f32[n]'"},
    {"grid", VALUE_TEXT, "X,Y,Z", AT(text.grid), .help = "blocks: 'ceil(n/256)'"},
    {"block", VALUE_TEXT, "X,Y,Z", AT(text.block), .help = "threads of a block"},
    {"shared", VALUE_TEXT, "N", AT(text.shared),
     .help = "bytes of dynamic shared memory (default 0)"},
    {"cluster", VALUE_TEXT, "X,Y,Z", AT(text.cluster), .help = "blocks of a cluster"},
    {"bytes", VALUE_TEXT, "N", AT(text.bytes),
     .help = "the least that is moved (default: what is read and written once)"},
    {"flops", VALUE_TEXT, "N", AT(text.flops),
     .help = "operations: '2*m*n*k' of fp32, or 'bf16 2*m*n*k'"},
    {"expect", VALUE_FILE, "FILE", AT(text.expect),
     .help = "what is right: FILE.so with NAME_reference, FILE.py with its function reference, "
             "or FILE.cu:KERNEL; without one rows are unchecked"},
    {"tolerance", VALUE_TEXT, "ABS,REL", AT(text.tolerance),
     .help = "by how much an output may differ from what is right"},
    {"compiler", VALUE_TEXT, "OPTIONS", AT(text.compiler), .help = "for NVRTC: '-DWIDTH=4'"},
    {"temperature", VALUE_CHOICE, "NAME", AT(text.temperature),
     .help = "of the caches (default cold)", .choices = "cold hot"},
    {"name", VALUE_TEXT, "NAME", AT(text.name), .help = "of the operation (default: the kernel's)"},
    {"device", VALUE_DEVICE, "D", AT(runner.device), .help = "as in assay run (default auto)"},
    OPTION_FILTER(VALUE_VARIANT, runner.plan.filter),
    {"launches", VALUE_COUNT, "N", AT(runner.launches),
     .help = "measure in N fresh processes (default 1)", .least = 1, .most = 1000},
    {"budget", VALUE_SECONDS, "S", AT(runner.plan.budget_s),
     .help = "sampling time per case, in seconds"},
    {"precision", VALUE_PERCENT, "PCT", AT(runner.plan.precision_pct),
     .help = "stop when the median is known to +-PCT %"},
    OPTION_LABEL,
    {"db", VALUE_DATABASE, "FILE", AT(runner.database), .help = OPTION_DB_HELP},
    OPTION_SEED,
    {"no-ceilings", VALUE_NO_FLAG, .at = AT(runner.plan.with_ceilings),
     .help = "do not measure the ceilings"},
    OPTION_FORMAT("table md csv json"),
    {"check", VALUE_FLAG, .at = AT(runner.check_only),
     .help = "check every answer once, time nothing"},
    {"dry-run", VALUE_FLAG, .at = AT(runner.dry_run),
     .help = "compile, say what is known of the kernels, and print what would be measured"},
    {"arch", VALUE_TEXT, "NAME", AT(arch), .help = "what --dry-run compiles for (default sm_90a)"},
    {0},
};

const struct command cmd_bench = {
    .name = "bench",
    .summary = "measure a kernel of a .cu, .cubin or .ptx file",
    .options = options,
    .words = {{"FILE", .kind = VALUE_FILE}},
    .least = 1,
    .most = RUNNER_MAX_SUITES,
    .which = "which kernel? FILE.cu, FILE.cubin, FILE.ptx, or a description FILE" BENCH_ENDING,
    .only = "16 files at most",
    .synopsis = "FILE.cu|.cubin|.ptx --kernel NAME --grid G --block B --arg ARG ... [options]\n"
                "FILE" BENCH_ENDING " ... [options]",
    .about = "Measures a kernel as it is: its arguments are made, it is launched, timed and\n"
             "stored like any variant. A source is compiled by NVRTC for the card. Without\n"
             "--expect the rows are unchecked: nothing says whether the answer is right.\n",
    .examples = "assay bench scale.ptx --kernel scale --size n=1Mi --arg 'in f32[n] normal' "
                "--arg 'out f32[n]' --arg 'i32 n' --arg 'f32 0.5' --grid 'ceil(n/256)' --block 256 "
                "--dry-run\n"
                "assay bench scale.bench.ini --dry-run",
    .exit = "as assay run does; 2 where a kernel cannot be what is said of it, 4 without a GPU.",
    .size = sizeof(struct arguments),
    .defaults = &(
        const struct arguments){.format = "table",
                                .arch = "sm_90a",
                                .runner = {RUN_COMMAND_DEFAULTS, .plan = {.with_ceilings = true}}},
    .check = check,
    .run = run,
};
