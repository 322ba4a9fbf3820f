/* cmd_ab.c - `assay ab`: two programs or revisions, from their names to a verdict. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "cmd/gate_command.h"
#include "cmd/options.h"
#include "gate/program_build.h"

struct arguments {
    struct given given;
    struct gate_command gating;
    const char *make;
    /* What each side loads: the object that it is, if it is one, and those of --load. */
    const char *objects[2][OBJECTS_MOST + 2];
};

static bool is_object(const char *word)
{
    return text_ends(word, ".so");
}

static int check(void *given)
{
    struct arguments *arguments = given;
    char *const *word = arguments->given.word;
    if (!word[2] && (is_object(word[0]) || is_object(word[1])))
        return assay_error("which suite? (objects are compared by SUITE or FILE.ini)");
    arguments->gating.gate.suite = word[2] ? word[2] : "core";
    return gate_command_check(&arguments->gating, given);
}

/* Of one device: on two, what is measured is how they differ. */
static int refuse_same(const struct arguments *arguments, const char *base, const char *candidate)
{
    const struct gate_options *gate = &arguments->gating.gate;
    char *const *word = arguments->given.word;
    if (strcmp(gate->base_device, gate->candidate_device) != 0 || !program_same(base, candidate))
        return 0;
    return assay_error("%s and %s are the same program, byte for byte: was the change built?",
                       word[0], word[1]);
}

/* A side that is an object is this program with that object. */
static enum build_end find_side(struct arguments *arguments, int side, char path[PATH_MAX])
{
    const struct given *given = &arguments->given;
    const char **objects = arguments->objects[side];
    const char *word = given->word[side];
    if (is_object(word)) *objects++ = word;
    memcpy(objects, given->object, sizeof given->object);
    if (is_object(word)) return program_itself(path, PATH_MAX) == 0 ? BUILD_DONE : BUILD_FAILED;
    char make[128];
    program_make_command("build", make, sizeof make);
    return program_of(word, arguments->make ? arguments->make : make, path);
}

static int run(void *given)
{
    struct arguments *arguments = given;
    char path[2][PATH_MAX];
    char *const *word = arguments->given.word;
    struct gate_options *gate = &arguments->gating.gate;
    if (gate_command_try(&arguments->gating) != 0) return -1;
    for (int i = 0; i < 2; i++) {
        enum build_end end = find_side(arguments, i, path[i]);
        if (end == BUILD_FAILED) return -1;
        if (end == BUILD_DONE) continue;
        fprintf(stderr, "assay ab: %s\n", assay_last_error());
        return EXIT_INTERRUPTED;
    }
    bool of_objects = is_object(word[0]) && is_object(word[1]);
    if (refuse_same(arguments, of_objects ? word[0] : path[0], of_objects ? word[1] : path[1]) != 0)
        return -1;
    gate->base = path[0];
    gate->candidate = path[1];
    gate->base_objects = arguments->objects[0];
    gate->candidate_objects = arguments->objects[1];
    return gate_command_run(&arguments->gating, given);
}

static const struct command_option options[] = {
    OPTIONS_GATE_DEVICES,
    {"base-device", VALUE_DEVICE, "D", AT(gating.gate.base_device),
     .help = "the device of the base alone"},
    OPTIONS_GATE_MEASURE,
    {"no-extension", VALUE_NO_FLAG, .at = AT(gating.gate.extend),
     .help = "no further rounds for what stays open"},
    {"resume", VALUE_FLAG, .at = AT(gating.gate.resume),
     .help = "go on with the suite's last gate that did not end; the other words as before"},
    {"make", VALUE_TEXT, "COMMAND", AT(make),
     .help = "what makes build/assay of a revision, in its folder (default: make -jN, with CUDA "
             "where this program has it)"},
    OPTIONS_OBJECT,
    OPTIONS_GATE_REPORT,
    {0},
};

const struct command cmd_ab = {
    .name = "ab",
    .summary = "two programs or revisions of git, side by side, to a verdict",
    .options = options,
    .words = {{"BASE", .kind = VALUE_FILE},
              {"CAND", .kind = VALUE_FILE},
              {"SUITE|FILE.ini", .kind = VALUE_SUITE_FILE}},
    .least = 2,
    .most = 3,
    .which = "which two? (two programs, as build/before and build/assay, shared objects, or "
             "revisions of git)",
    .only = "two programs and one suite only",
    .synopsis = "BASE CAND [SUITE|FILE.ini] [options]",
    .about = "Says whether CAND is slower than BASE: measures the suite (default core) with both\n"
             "in turns, as assay gate does, with its statistics and its exit code.\n"
             "\n"
             "BASE and CAND are each a program (a file), a shared object (FILE.so, which this\n"
             "program loads) or a revision of git in the current folder's repository. A\n"
             "revision is built once: its program is kept below $XDG_CACHE_HOME/assay/builds\n"
             "(else ~/.cache), one folder per commit and command; remove that folder to build\n"
             "again. Changes that are not committed are in no revision: their program is\n"
             "build/assay.\n",
    .examples = "assay ab HEAD build/assay\n"
                "assay ab before.so softmax.so softmax.ini\n"
                "assay ab v0.1.0 main int8 --filter 'int8_quantize/*'",
    .exit = "0 fine, 1 a case REGRESSED, 2 usage, or a side that is no program and does not "
            "build, 3 undecided (by --fail-on), 4 nothing measured or comparable, or too few cases "
            "judged, 5 a case of CAND failed or is missing, 130 interrupted.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.gating = {GATE_COMMAND_DEFAULTS}},
    .check = check,
    .run = run,
};
