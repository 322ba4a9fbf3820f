/* cmd_show.c - `assay show`: the rows of a run. */
#include <stdio.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/terminal.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "show/show.h"
#include "show/view.h"

struct arguments {
    struct given given;
    const char *db, *format;
    double most_spread;
    bool ceilings, profile, wide;
    struct view_selection selection;
};

static int check(void *given)
{
    const struct arguments *arguments = given;
    const char *rows = option_given(given, "ceilings filter sort best wide");
    if (!arguments->profile) return 0;
    if (rows) return assay_error("--%s or --profile, not both", rows);
    return show_profile_knows_format(arguments->format) ? 0 : -1;
}

static int show_the_profiles(const char *spec, const struct arguments *arguments)
{
    struct stored_run run;
    int code = EXIT_FINE;
    if (run_choice_read(&run, true, spec, arguments->db)) return -1;
    if (show_profile_count(&run, run.profiles) == 0) {
        fprintf(stderr, "assay show: run %.8s has no profile; assay profile SUITE makes one\n",
                run.run.id);
        code = EXIT_NOTHING;
    } else if (show_profiles(stdout, &run, run.profiles, arguments->format, terminal_columns())) {
        code = -1;
    }
    stored_run_release(&run);
    return code;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    const char *spec = arguments->given.word[0];
    struct show_options show = {.format = arguments->format,
                                .ceilings = arguments->ceilings,
                                .colour = terminal_colour(),
                                .width = terminal_columns(),
                                .wide = arguments->wide,
                                .selection = arguments->selection};
    struct stored_run stored;
    if (arguments->profile) return show_the_profiles(spec, arguments);
    if (run_choice_read(&stored, show.selection.best, spec, arguments->db)) return -1;
    show.profiles = stored.profiles;
    struct view view;
    int code = -1;
    if (view_make_noisy_above(&view, &stored, arguments->most_spread) == 0) {
        int status = show_view(stdout, &view, &show);
        code = status < 0   ? -1
               : status > 0 ? run_choice_no_case(given, &stored, show.selection.filter)
                            : view_exit_code(&stored);
        if (status == 0 && strcmp(show.format, "table") == 0)
            run_choice_say_next(&stored, spec, arguments->db, show.selection.best);
        view_release(&view);
    }
    stored_run_release(&stored);
    return code;
}

static const struct command_option options[] = {
    OPTION_FORMAT("table md csv json"),
    OPTION_FILTER(VALUE_CASE, selection.filter),
    {"sort", VALUE_CHOICE, "KEY", AT(selection.sort),
     .help = "within a group, the best first: time (default), name, rate, speedup, ceiling; with "
             "--best the groups",
     .choices = "time name rate speedup ceiling"},
    {"best", VALUE_FLAG, .at = AT(selection.best),
     .help = "the fastest kernel of each group, what bounds it, what to try next, and the lines "
             "that open it in Nsight Compute"},
    {"wide", VALUE_FLAG, .at = AT(wide),
     .help = "intervals and notes, though a line gets longer than the terminal is wide"},
    {"ceilings", VALUE_FLAG, .at = AT(ceilings),
     .help = "also the cases that were measured for their ceiling only"},
    {"profile", VALUE_FLAG, .at = AT(profile),
     .help = "what assay profile found instead: kernels, counters, what bounds them (table, md or "
             "json)"},
    OPTION_NOISY,
    OPTION_DB,
    {0},
};

const struct command cmd_show = {
    .name = "show",
    .summary = "a run's rows: time, rate, share of the ceiling, ratio",
    .options = options,
    .words = {{"RUN", .kind = VALUE_RUN}},
    .most = 1,
    .only = "one run only",
    .about = "Prints the rows of a run: time with its interval, rate, share of the ceiling\n"
             "that binds, and speed-up against the group's baseline. In a terminal of 80\n"
             "columns the intervals of the speed-ups are left out; a file gets all.\n"
             "\n" ABOUT_RUN,
    .examples = "assay show\n"
                "assay show --best --sort ceiling\n"
                "assay show --filter 'int8_quantize cold' --sort speedup\n"
                "assay show latest~1 --format csv",
    .exit = "0 fine, 1 a case is wrong, 2 usage, 4 nothing was measured, or no case matches, 5 a "
            "case crashed, timed out or is missing. It is the run's, whatever is selected.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.format = "table", .most_spread = NOISY_SPREAD},
    .check = check,
    .run = run,
};
