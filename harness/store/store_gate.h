/*
 * store_gate.h - what the gate keeps in the database beside runs: named
 * baselines, acknowledged changes, the noise of unchanged code, its verdicts.
 * Every function returns 0, or -1 after assay_error.
 */
#pragma once

#include "judge/comparison.h"
#include "judge/history.h"
#include "judge/noise.h"
#include "judge/timings.h"
#include "store/store.h"

/* Names of runs. Setting one that exists moves it. */
struct baseline_line {
    char name[ASSAY_MAX_NAME], run_id[STORE_ID], suite[ASSAY_MAX_NAME], note[ASSAY_MAX_REASON];
    char set_at[32];
};
int store_set_baseline(struct store *store, const char *name, const char *run_id, const char *note);
int store_drop_baseline(struct store *store, const char *name);
int store_each_baseline(struct store *store,
                        int (*each)(const struct baseline_line *line, void *context),
                        void *context);

/* Calls `each` for every complete run of the same build and machine, suite and device
 * setting as this one, oldest first, itself and launches of gates left out. A build
 * whose commit is not known has no sibling. Stops with -1 when `each` does. */
int store_each_sibling(struct store *store, const char *run_id,
                       int (*each)(const char *run_id, void *context), void *context);

/* Acknowledged changes. */
int store_set_ack(struct store *store, const struct ack *ack);
int store_drop_ack(struct store *store, const char *pattern);
int store_each_ack(struct store *store, int (*each)(const struct ack *ack, void *context),
                   void *context);
/* Tag the rows of regressions that somebody has taken on, before comparison_finish. */
int store_apply_acks(struct store *store, struct comparison *comparison);

/* The key under which a launch's noise and verdicts are kept. */
int store_comparability(struct store *store, const char *launch_id, char key[STORE_ID]);

/* A block that is there gives way to the same one of more rounds. */
int store_add_noise(struct store *store, const char *comparability, const char *source,
                    const char *metric, const struct noise_block *block);
/* All blocks of the key but those of a session, or NULL: a gate that was killed before it stored
 * its verdicts left blocks of itself. noise_release frees. */
int store_read_noise(struct store *store, const char *comparability, const char *metric,
                     const char *but, struct noise *noise);

/* The devices of which there are blocks, as a launch describes them. Stops when `each`
 * returns other than 0, which is its own to report. */
struct noise_device {
    char comparability[STORE_ID], name[RESULT_MAX_PROPERTY], driver[RESULT_MAX_PROPERTY];
    char uuid[RESULT_MAX_PROPERTY], clock[16], flush[16];
    bool simulated;
};
int store_each_noise_device(struct store *store,
                            int (*each)(const struct noise_device *device, void *context),
                            void *context);

/* Every pair of launches of unchanged code that is stored with its times; free *pairs. */
int store_read_noise_pairs(struct store *store, const char *comparability,
                           struct noise_pair **pairs, int *count);

/* The session of the suite's newest calibration, and the number of its last round; -1 with
 * assay_error where there is none. */
int store_last_calibration(struct store *store, const char *suite, char session[STORE_ID],
                           int *last);

/* The same of the newest gate of two programs that came to no decision. */
int store_unfinished_gate(struct store *store, const char *suite, char session[STORE_ID],
                          int *last);

/* The newest gate of two programs on each node (a card in a host) that left launches here. Stops
 * when `each` returns other than 0, and returns that. */
struct gate_node {
    char session[STORE_ID]; /* as labels have it */
    char gate[STORE_ID];    /* its id; "": it did not come to an end */
    char suite[ASSAY_MAX_NAME];
    char host[RESULT_MAX_PROPERTY], card[RESULT_MAX_PROPERTY]; /* a UUID, else what --device took */
    char started_at[32]; /* of one that launched nothing, when it was judged */
    /* Commit and changes of base and candidate; "" not known. */
    char build[2][RESULT_MAX_PROPERTY + RESULT_MAX_HASH + 1];
    bool simulated;
};
int store_each_gate_node(struct store *store,
                         int (*each)(const struct gate_node *node, void *context), void *context);

/* Append what a gate decided, as far as it is stored. Free *rows. */
int store_read_verdicts(struct store *store, const char *gate, struct comparison_row **rows,
                        int *count);

/* The rows of a comparison that the gate `id` made. */
int store_add_gate(struct store *store, const char *id, const char *comparability,
                   const struct comparison *comparison);

/* How many cases of a run are stored, and how many it plans. */
int store_count_cases(struct store *store, const char *run_id, int *stored, int *planned);

/* The cases of a run, ceilings left out. */
int store_read_timings(struct store *store, const char *run_id, struct timings *timings);

/* The series of the cases that a pattern names (case_name.h), without changes
 * (store_history.c). -1 with assay_error. */
int history_read(struct history *history, struct store *store, const char *cases);
