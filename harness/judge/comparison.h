/*
 * comparison.h - what compare and gate found, one struct that is the
 * source of every format (comparison_formats.h), so that all say the same.
 */
#ifndef COMPARISON_H
#define COMPARISON_H

#include "base/stats.h"
#include "case/case_name.h"
#include "case/run_record.h"
#include "judge/verdict.h"

/* What the interval of a row is made from. */
enum evidence {
    EVIDENCE_NONE,
    EVIDENCE_SAMPLES,  /* one launch a side: cannot see how launches differ */
    EVIDENCE_RANGE,    /* too few launches for 95 %: smallest to largest */
    EVIDENCE_LAUNCHES, /* a 95 % interval over launches */
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
    double p_slower, p_faster;    /* one-sided, against the floor; NAN: no test was made */
    double threshold;             /* smallest change that matters, as a fraction */
    double floor;                 /* the same, not below what noise and clock allow to see */
    double noise;                 /* noise floor, as a fraction; NAN not known */
    double fence;                 /* what the case's history does by itself; NAN not known */
    double mde;                   /* smallest change found 4 times in 5; NAN not known */
    int launches;                 /* of the side with fewer; rounds when paired */
    bool names_place;             /* its variant also ran at the other place: say where */
    bool confirmed;               /* judged on fresh rounds of a second stage */
    char reason[ASSAY_MAX_REASON];
};

/* One side, in words. */
struct comparison_side {
    char id[STORE_ID]; /* of its run; of the first when it has several */
    char suite[ASSAY_MAX_NAME];
    char label[RESULT_MAX_PROPERTY];
    char program[RESULT_MAX_PROPERTY]; /* the path, when a gate ran it */
    char version[RESULT_MAX_PROPERTY];
    char commit[RESULT_MAX_PROPERTY];
    char diff_hash[RESULT_MAX_HASH];
    char device[RESULT_MAX_PROPERTY];
    char uuid[RESULT_MAX_PROPERTY];
    char driver[RESULT_MAX_PROPERTY];
    char started_at[32];
    int launches;
    bool simulated;
};

/* Geometric mean of the ratios of an operation. */
struct comparison_family {
    char operation[ASSAY_MAX_NAME];
    double ratio;
    int cases;
};

enum { COMPARISON_NOTES = 12, COMPARISON_NOTE = 400 };

struct comparison {
    const char *mode;   /* "compare", "paired", "stored" */
    const char *metric; /* "time" or "speedup" */
    double threshold;   /* of all cases, a fraction; NAN: each has its own */
    double fdr;         /* false discovery rate that was asked for; NAN none */
    struct comparison_side base, candidate;
    struct comparison_row *rows; /* worst first after comparison_finish */
    int count;
    struct comparison_family *families;
    int family_count;
    char note[COMPARISON_NOTES][COMPARISON_NOTE]; /* what a reader must know */
    int note_count;
    char difference[ASSAY_MAX_REASON]; /* where the sides' comparability differs; "" nowhere */
    int counts[VERDICTS];
    int exit;
};

/* A sentence that every format shows; the same one only once. */
void comparison_note(struct comparison *comparison, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fill a side from a stored run. */
void comparison_side_of(struct comparison_side *side, const struct stored_run *run);

/* Whether a case is on both sides. */
bool comparison_has_common_case(const struct comparison *comparison);

/* Set names_place of every row; -1 with assay_error. comparison_finish does it. */
int comparison_mark_places(struct comparison *comparison);

/* Order the rows, count verdicts, make the families and the exit code. -1 with
 * assay_error when out of memory. May be called again after rows changed. */
int comparison_finish(struct comparison *comparison, unsigned fail_on);
void comparison_release(struct comparison *comparison);

/* Its case_text, and " host" or " cuda" where its variant has rows of both. */
void comparison_row_text(const struct comparison_row *row, char out[CASE_TEXT]);
/* "1.034x [1.021, 1.047]"; "-" without a ratio. */
void comparison_ratio_text(const struct comparison_row *row, char *out, size_t size);

#endif
