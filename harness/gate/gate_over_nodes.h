/*
 * gate_over_nodes.h - for gate_over.c: the nodes that one verdict is made of, as their gates stand
 * in databases, and those whose share is missing.
 */
#pragma once

#include "gate/gate_run_state.h"
#include "store/store_gate.h"

/* A node with a gate. */
struct member {
    struct gate_node about;
    struct gate_run run; /* its launches in the pool, for gate_collect */
    struct comparison_row *rows;
    int count;
};

struct over {
    const struct gate_options *options;
    struct comparison *comparison;
    struct store *store; /* that is being read */
    bool has_gate;       /* there is one in it */
    struct member *members;
    int count;
    char lost[COMPARISON_NOTE]; /* the nodes without a share */
    int lost_count;
};

/* Take the nodes of a database, of each its newest gate. One that cannot be read, or has no gate,
 * is a lost share. 0, or -1 with assay_error. */
int over_read(struct over *over, const char *path);

/* Lose the nodes whose gate did not end, whose rounds are not there, or that gated other builds or
 * another text of the suite than most. */
void over_drop_useless(struct over *over);

/* Whether its rounds are there; one that proved all cases may have none. */
bool over_has_rounds(const struct member *member);

/* "node4 GPU-1a". */
void over_name(const struct gate_node *node, char out[2 * RESULT_MAX_PROPERTY]);

void over_release(struct over *over);
