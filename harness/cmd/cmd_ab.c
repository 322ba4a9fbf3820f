/* cmd_ab.c - `assay ab`: two programs or revisions, from their names to a verdict. */

#include "base/text.h"
#include "cmd/gate_command.h"

struct arguments {
    struct given given;
    struct gate_command gating;
    const char *make;
};

static int check(void *given)
{
    struct arguments *arguments = given;
    char *const *word = arguments->given.word;
    if (!word[2] && (gate_command_is_object(word[0]) || gate_command_is_object(word[1])))
        return assay_error("which suite? (objects are compared by SUITE or FILE.ini)");
    arguments->gating.gate.suite = word[2] ? word[2] : "core";
    return gate_command_check(&arguments->gating, given);
}

static int run(void *given)
{
    struct arguments *arguments = given;
    const char *const word[] = {arguments->given.word[0], arguments->given.word[1]};
    return gate_command_ab(&arguments->gating, given, word, arguments->make);
}

static const struct command_option options[] = {
    OPTIONS_GATE_DEVICES,
    {"base-device", VALUE_DEVICE, "D", AT(gating.gate.base_device),
     .help = "the device of the base alone"},
    OPTIONS_GATE_MEASURE,
    {"twin", VALUE_FLAG, .at = AT(gating.gate.twin), .help = TWIN_HELP},
    OPTION_PROCESSES,
    {"no-extension", VALUE_NO_FLAG, .at = AT(gating.gate.extend),
     .help = "no further rounds for what stays open"},
    {"no-proof", VALUE_NO_FLAG, .at = AT(gating.gate.proof), .help = NO_PROOF_HELP},
    {"resume", VALUE_FLAG, .at = AT(gating.gate.resume),
     .help = "go on with the suite's last gate that did not end; the other words as before"},
    {"make", VALUE_TEXT, "COMMAND", AT(make), .help = MAKE_HELP},
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
