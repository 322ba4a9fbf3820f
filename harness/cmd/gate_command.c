#include "cmd/gate_command.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/out_file.h"
#include "base/text.h"
#include "cmd/options.h"
#include "gate/program_build.h"
#include "show/comparison_formats.h"

static bool is_simulated(const char *device)
{
    return device && strncmp(device, "sim", 3) == 0;
}

int gate_command_check(struct gate_command *command, const struct given *given)
{
    struct gate_options *gate = &command->gate;
    if (gate->least_judged > 1) return assay_error("--least-judged is a share: at most 100");
    if (gate->twin && (gate->resume || gate->pinned || gate->null))
        return assay_error(
            "--resume, --pinned and --null are for builds that are launched one after "
            "the other, not for --twin");
    gate->base_objects = gate->candidate_objects = given->object;
    gate->allow_load = given->allow_load;
    gate->speedup = strcmp(command->metric, "speedup") == 0;
    gate->has_seed = option_given(given, "seed") != NULL;
    if (!gate->base_device) gate->base_device = command->device;
    if (!gate->candidate_device) gate->candidate_device = command->device;
    if (gate_refuse_all(gate->base_device) || gate_refuse_all(gate->candidate_device)) return -1;
    bool simulated = is_simulated(gate->candidate_device) ||
                     (!gate->baseline && is_simulated(gate->base_device));
    if (simulated && !gate->allow_simulated)
        return assay_error("a gate of a simulated device proves nothing (--allow-simulated)");
    return command->fail_on ? verdict_set_parse(command->fail_on, &gate->fail_on) : 0;
}

int gate_command_try(const struct gate_command *command)
{
    const char *const paths[] = {command->output, command->junit, command->markdown, command->json};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (out_file_try(paths[i]) != 0) return -1;
    return 0;
}

static int report(const struct gate_command *command, const struct comparison *comparison)
{
    const char *const outputs[][2] = {{command->format, command->output},
                                      {"junit", command->junit},
                                      {"md", command->markdown},
                                      {"json", command->json}};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        if ((i == 0 || outputs[i][1]) &&
            comparison_save(comparison, outputs[i][0], outputs[i][1], command->all) != 0)
            return -1;
    return command->annotations ? comparison_annotations(stderr, comparison) : 0;
}

/* What was made, and in the end why that is nothing. */
static int conclude(const struct gate_command *command, const char *name, int code,
                    struct comparison *comparison)
{
    if (code >= 0) {
        fprintf(stderr, "assay %s: %s\n", name, assay_last_error());
        return code;
    }
    if (comparison->exit == EXIT_NOTHING) {
        char why[WORDS_LINE];
        unjudged_text(comparison, why);
        fprintf(stderr, "assay %s: %s\n", name, why);
    }
    code = report(command, comparison) == 0 ? comparison->exit : -1;
    comparison_release(comparison);
    return code;
}

int gate_command_compare(const struct gate_command *command, struct comparison *comparison)
{
    const struct gate_options *gate = &command->gate;
    struct gate_options with_self = command->gate;
    char itself[PATH_MAX];
    struct store *store;
    /* A stored run is in a database that is there, and so is what is gone on with. */
    bool reads = gate->baseline || gate->pinned || gate->resume;
    if (store_open(&store, command->db, reads ? STORE_CHANGE : STORE_WRITE) != 0) return EXIT_USAGE;
    if (gate->twin && program_itself(itself, sizeof itself) == 0) with_self.self = itself;
    int code = gate_run(store, &with_self, comparison);
    store_close(store);
    return code;
}

int gate_command_run(const struct gate_command *command, const struct given *given)
{
    struct comparison comparison;
    int code = gate_command_compare(command, &comparison);
    return conclude(command, given->command->name, code, &comparison);
}

int gate_command_over(const struct gate_command *command, const struct given *given,
                      const struct over_options *over)
{
    struct comparison comparison;
    int code = gate_over(&command->gate, over, &comparison);
    return conclude(command, given->command->name, code, &comparison);
}

/* Refuse one program on one device; on two devices it is measured how these differ. */
static int refuse_same(const struct gate_options *gate, const char *const word[2])
{
    bool of_objects = gate_command_is_object(word[0]) && gate_command_is_object(word[1]);
    const char *base = of_objects ? word[0] : gate->base;
    const char *candidate = of_objects ? word[1] : gate->candidate;
    if (strcmp(gate->base_device, gate->candidate_device) != 0 || !program_same(base, candidate))
        return 0;
    return assay_error("%s and %s are the same program, byte for byte: was the change built?",
                       word[0], word[1]);
}

bool gate_command_is_object(const char *word)
{
    return text_ends(word, ".so");
}

enum build_end gate_command_build(const char *word, const char *make, char path[PATH_MAX])
{
    char usual[128];
    program_make_command("build", usual, sizeof usual);
    return program_of(word, make ? make : usual, path);
}

enum build_end gate_command_side(const struct given *given, const char *word, const char *make,
                                 const char *objects[OBJECTS_MOST + 2], char path[PATH_MAX])
{
    bool is_object = gate_command_is_object(word);
    if (is_object) *objects++ = word;
    memcpy(objects, given->object, sizeof given->object);
    if (is_object) return program_itself(path, PATH_MAX) == 0 ? BUILD_DONE : BUILD_FAILED;
    return gate_command_build(word, make, path);
}

/* What was said of a word that gives no program, and what compares the stored run of that name. */
static int refuse_word(const char *db, const char *word)
{
    char why[1024], id[STORE_ID];
    struct store *store;
    bool is_run = false;
    snprintf(why, sizeof why, "%s", assay_last_error());
    if (store_open(&store, db, STORE_READ) == 0) {
        is_run = store_find_run_or_job(store, word, id) == 0;
        store_close(store);
    }
    return assay_error("%s%s", why, is_run ? " (a stored run is called so: assay compare)" : "");
}

int gate_command_ab(struct gate_command *command, const struct given *given,
                    const char *const word[2], const char *make)
{
    char path[2][PATH_MAX];
    const char *objects[2][OBJECTS_MOST + 2] = {{NULL}};
    if (gate_command_try(command) != 0) return -1;
    for (int i = 0; i < 2; i++) {
        enum build_end end = gate_command_side(given, word[i], make, objects[i], path[i]);
        if (end == BUILD_FAILED) return refuse_word(command->db, word[i]);
        if (end == BUILD_DONE) continue;
        fprintf(stderr, "assay %s: %s\n", given->command->name, assay_last_error());
        return EXIT_INTERRUPTED;
    }
    command->gate.base = path[0];
    command->gate.candidate = path[1];
    command->gate.base_objects = objects[0];
    command->gate.candidate_objects = objects[1];
    return refuse_same(&command->gate, word) == 0 ? gate_command_run(command, given) : -1;
}
