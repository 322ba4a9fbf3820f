/*
 * show.h - the formats of `assay show` (show_*.c), of which show_view chooses one, and the
 * texts they share. Each format is one function that writes the rows of a view that are
 * not hidden.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/field.h"
#include "base/json.h"
#include "base/units.h"
#include "show/view.h"

int show_table(FILE *out, const struct view *view, const struct show_options *options);
int show_md(FILE *out, const struct view *view);
int show_csv(FILE *out, const struct view *view);
int show_json(FILE *out, const struct view *view);

/* The columns of a row as text; "" if a row has none. */
enum show_cell {
    CELL_VARIANT, /* baselines marked "*", bounds "=" */
    CELL_TIME,
    CELL_SPREAD, /* the farther end of the interval: "±0.21 %" */
    CELL_RATE,
    CELL_SHARE,   /* fraction of the ceiling: "96.1 %" */
    CELL_CEILING, /* short name of the ceiling */
    CELL_RATIO,   /* speed-up over the group's baseline: "1.93x [1.92, 1.94]", "base", "bound" */
    CELL_MARKS,   /* those of the time: letters that are explained below the table */
    CELLS,
};

enum { SHOW_CELL = 80, SHOW_MARKS = 16 };

struct show_words {
    char cell[CELLS][SHOW_CELL];
};

void show_words(struct show_words *words, const struct view *view, const struct view_row *row);

/* "1.93x [1.92, 1.94]"; without the interval if it has none, "-" without a ratio. */
void show_ratio(char *out, size_t size, const struct interval *ratio);

/* Begin the object of a document: this program's version, and format 1. The names in it are a
 * public contract: the format may gain members but never loses or changes one. */
void show_json_begin(struct json *json, FILE *out);

/* What the interval of a time over so many launches is; "" where it has none. */
const char *show_interval_word(double lo_ns, int launches);

/* A member that is an array of `count` structs of `size` bytes, by their fields. */
void show_json_list(struct json *json, const char *key, const struct field *fields,
                    const void *list, int count, size_t size);

/* The members that say which case it is. */
void show_json_case(struct json *json, const struct case_id *id);

/* What a mark means. */
struct show_mark {
    char letter;
    const char *meaning;
};
extern const struct show_mark show_marks[]; /* ended by a letter '\0' */

/* All marks of a row, that of its kind last; and those of all rows shown, each once. */
void show_marks_of(char out[SHOW_MARKS], const struct view *view, const struct view_row *row);
void show_marks_used(char out[SHOW_MARKS], const struct view *view);

/* Short name: "copy" for memory_copy, since device memory is the default. */
const char *show_ceiling_name(const char *name);

/* "4.30 TB/s" or "915 TOP/s", depending on the ceiling's name. */
void show_ceiling_rate(char out[UNITS_MAX], const struct ceiling *ceiling);

/* "12 ok, 1 skipped, 3 missing", counting the rows shown. */
void show_counts(char *out, size_t size, const struct view *view);

struct profile;

/* Sentences about a row; false: there is nothing to say. */

/* Its speed-up, which is paired by round, and the ratio of the two medians do not agree. */
bool show_contradiction(char *out, size_t size, const struct view_row *row);

/* How it stands to the baseline, what bounds it and what to try: by its profile, else by its
 * ceiling. profiles[i] belongs to run->cases[i]; NULL: none was read. */
bool show_advice(char *out, size_t size, const struct view *view, const struct view_row *row,
                 struct profile *const *profiles);

/* The lines that open it in Nsight Compute, for a shell; for a kernel of a GPU only. */
bool show_ncu(char *out, size_t size, const struct stored_run *run, const struct view_row *row);
/* "compared with the reference: 3 whole, 2 in a sample (6.2 % of it or more)", counting the
 * rows shown that have a time; "" if none was compared. */
void show_checked(char *out, size_t size, const struct view *view);

enum { SHOW_STAGES = 5 };

/* One stage of a case whose variant reports its stages as metrics, as text: X_ns, the sum over
 * all calls, and X_each_ns, the time of one call. */
struct show_stage {
    const char *name;
    int64_t calls;
    char total[UNITS_MAX], each[UNITS_MAX];
};

/* Write the stages of a case in the order of a batch; returns how many. A case that is not ok
 * has none. */
int show_stages(const struct case_result *result, struct show_stage out[SHOW_STAGES]);

/* Copy `text` into at most `columns` columns, cut with "..." when it is longer;
 * line ends and other control characters become spaces. */
void show_fit(char *out, size_t size, const char *text, int columns);

/* ------------------------------------- profiles, history, noise, fleet, code -- */

struct history;
struct profile_kernel;
struct store;

/* Grid and block: "48829 x 256", or "(2,64,1) x 128" if not one-dimensional; "" for a copy, or
 * where they were not the same in all launches. */
void show_grid(char *out, size_t size, const struct profile_kernel *kernel);
/* Whether `format` is table, md or json; otherwise assay_error lists them. */
bool show_profile_knows_format(const char *format);

/* How many cases have a profile. profiles[i] belongs to run->cases[i]; NULL: none. */
int show_profile_count(const struct stored_run *run, struct profile *const *profiles);
/* `width`: columns of the lines of a table. */
int show_profiles(FILE *out, const struct stored_run *run, struct profile *const *profiles,
                  const char *format, int width);

/* In lines of so many columns; `utf8`: whether a sparkline may use block characters. */
int history_print(FILE *out, const struct history *history, int columns, bool utf8);
int history_print_json(FILE *out, const struct history *history);
/* As a page (page.h). `cases`: what was asked for. */
int history_html(FILE *out, const struct history *history, const char *cases);

/* What a database knows of the noise of unchanged code, by device and duration, as a table, md
 * or json. 1: nothing is known, and nothing is written; -1 with assay_error. `width` is that of the
 * table. */
int noise_show(FILE *out, struct store *store, const char *format, int width);

struct fleet;
/* The cards with a finding, cohort by cohort; with `all` every card that was asked for. -1 with
 * assay_error. */
int fleet_print(FILE *out, const struct fleet *fleet, bool all, int width);
/* One document of docs/schemas/fleet.json. Prometheus: export/export.h. */
int fleet_print_json(FILE *out, const struct fleet *fleet);

struct code_difference;
/* Where the machine code of two builds differs: the functions that differ, at most `most` of them,
 * each with what it has more or less of and, in `lines` lines at most, its instructions side by
 * side. */
void code_show(FILE *out, const struct code_difference *difference, int most, int lines);
