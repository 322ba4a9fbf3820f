/*
 * comparison.h - the result of `assay compare` or `assay gate`. Every output format
 * (show/comparison_formats.h) is written from this struct.
 */
#pragma once

#include "base/stats.h"
#include "base/units.h"
#include "case/case_name.h"
#include "case/surroundings.h"
#include "judge/verdict.h"

/* What the interval of a row is computed from. */
enum evidence {
    EVIDENCE_NONE,
    EVIDENCE_SAMPLES,  /* samples of one launch on each side: cannot see how launches differ */
    EVIDENCE_RANGE,    /* smallest to largest, as there are too few launches for 95 % */
    EVIDENCE_LAUNCHES, /* a 95 % confidence interval over launches */
    EVIDENCE_TURNS,    /* one over turns of both builds in one process (judge/twin.h) */
    EVIDENCES,
};
const char *evidence_name(enum evidence evidence);

struct comparison_row {
    struct case_id id;
    enum verdict verdict;
    unsigned tags;         /* enum verdict_tag */
    struct interval ratio; /* candidate over base; NANs: none */
    enum evidence evidence;
    double base_ns, candidate_ns; /* medians over launches; NAN: no time */
    const char *metric;           /* what the ratio is of: "time", "speedup", "share" */
    /* Between two models: the speed-up over the baseline, or the share of the ceiling; NAN: none.
     */
    double base_value, candidate_value;
    double p_slower, p_faster; /* one-sided p-values, against the floor; NAN: no test */
    double p_least;            /* the smallest that so many launches can have; NAN: no test */
    double threshold;          /* smallest change that matters, as a fraction */
    double floor;              /* the threshold, or noise or clock resolution if larger */
    double noise;              /* noise floor, as a fraction; NAN unknown */
    double quantum;            /* clock resolution, as a fraction; 0 or NAN unknown */
    double fence;              /* usual change between runs (history_fence); NAN unknown */
    double mde;                /* minimum detectable effect at 80 % power; NAN unknown */
    int launches;              /* of the side with fewer; rounds when paired, or turns */
    bool names_place;          /* the variant ran on host and CUDA, so name the place */
    bool confirmed;            /* judged by the fresh rounds of a second stage */
    char reason[ASSAY_MAX_REASON];
    /* What may have made half of a side's launches or more noisy, by more than the floor; "": they
     * are not. */
    char noisy[CAUSE_TEXT];
};

/* Set its verdict, and why. Returns the verdict. */
enum verdict row_decide(struct comparison_row *row, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a test found becomes UNSTABLE: a change, where the clock explains it; all else, where times
 * are noisy, which prove a change at most. */
void comparison_row_doubt(struct comparison_row *row);

/* Where a report has a row, from the top. */
enum comparison_section {
    SECTION_SLOWER, /* also failed and missing; the worst verdict first, then the largest change */
    SECTION_FASTER, /* IMPROVED, then SUSPECT */
    SECTION_OPEN,   /* undecided, not comparable, or new; by verdict and reason */
    SECTION_SAME,
    SECTIONS,
};
enum comparison_section comparison_section(const struct comparison_row *row);

/* Description of one side. */
struct comparison_side {
    char id[STORE_ID]; /* of its run; of the first if there are several */
    char suite[ASSAY_MAX_NAME];
    char label[RESULT_MAX_PROPERTY];
    char program[RESULT_MAX_PROPERTY]; /* the path, when a gate ran it */
    char version[RESULT_MAX_PROPERTY];
    char commit[RESULT_MAX_PROPERTY];
    char diff_hash[RESULT_MAX_HASH];
    char objects[ASSAY_MAX_REASON]; /* "mine.so 1a2b3c4d": names and the beginnings of hashes */
    char device[RESULT_MAX_PROPERTY];
    char uuid[RESULT_MAX_PROPERTY];
    char driver[RESULT_MAX_PROPERTY];
    char started_at[32];
    char host[RESULT_MAX_PROPERTY]; /* that measured it */
    char spec[RESULT_MAX_SPEC];     /* of the device, as --device takes it */
    char command[512];              /* that measured it, as typed */
    int launches;
    bool simulated;
};

/* Geometric mean of the ratios of an operation. */
struct comparison_family {
    char operation[ASSAY_MAX_NAME];
    double ratio;
    int cases;
    /* Words of shape and temperature that all its rows have: "input=fp32 cold"; "" none. */
    char common[CASE_TEXT];
};

enum { COMPARISON_NOTES = 16, COMPARISON_NOTE = 400 };

struct comparison {
    const char *mode;   /* "compare", "paired", "stored" */
    const char *metric; /* "time", "speedup"; "limits": each row has its own */
    double threshold;   /* of all cases, a fraction; NAN: each has its own */
    double fdr;         /* false discovery rate that was asked for; NAN none */
    struct comparison_side base, candidate;
    struct comparison_row *rows; /* by section after comparison_finish */
    int count;
    struct comparison_family *families;
    int family_count;
    char note[COMPARISON_NOTES][COMPARISON_NOTE]; /* sentences that every format shows */
    int note_count;
    char lost[COMPARISON_NOTE]; /* nodes whose share of a verdict over nodes is missing; "" none */
    char difference[ASSAY_MAX_REASON]; /* in the comparability of the sides; "" none */
    /* The command that would decide what has too few launches, to be pasted; "" none. What in it is
     * to be replaced, and by what; "" nothing. */
    char next[4096], next_lacks[512];
    struct verdict_tally tally; /* least_judged is given, the rest found */
    int exit;
};

/* Add the row of a case, with nothing known yet; there is room for it in `rows`. */
struct comparison_row *comparison_add_row(struct comparison *comparison, const struct case_id *id);

/* Add a sentence, once. */
void comparison_note(struct comparison *comparison, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fill a side from a stored run. */
void comparison_side_of(struct comparison_side *side, const struct stored_run *run);

/* Whether a case is on both sides. */
bool comparison_has_common_case(const struct comparison *comparison);

/* Order the rows, count verdicts, make the families and the exit code. -1 with
 * assay_error when out of memory. May be called again after rows changed. */
int comparison_finish(struct comparison *comparison, unsigned fail_on);
void comparison_release(struct comparison *comparison);

/* Its case_text, with " host" or " cuda" appended if its variant has rows of both. */
void comparison_row_text(const struct comparison_row *row, char out[CASE_TEXT]);
/* The same without the words that all rows of its operation have. */
void comparison_short_text(const struct comparison *comparison, const struct comparison_row *row,
                           char out[CASE_TEXT]);
/* The change of the time, "+3.4 %": slower. "-" for NAN. */
void comparison_change_text(double ratio, int decimals, char out[UNITS_MAX]);
/* With how many a row's is written: its floor may be a tenth of a per cent. */
int comparison_decimals(const struct comparison_row *row);
/* That change with its interval: "+3.4 % [+2.1, +4.7]". */
void comparison_ratio_text(const struct comparison_row *row, char *out, size_t size);
