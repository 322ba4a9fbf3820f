/*
 * card.h - what a card offers to kernels (struct assay_card), and the limits by which
 * `--device cuda:0,sm=80,shared=163Ki` shows less of it.
 */
#pragma once

#include "assay.h"

/* A device option: which GPU, and what it shows. */
struct card_spec {
    int index;
    bool is_any;          /* no single one is named: "cuda", "cuda:all" */
    int sm;               /* compute capability x 10; 0: no limit */
    int64_t shared_bytes; /* per block; 0: no limit */
};

/* Parse "cuda", "cuda:1", "cuda:all", "cuda:0,sm=80,shared=163Ki". -1 with assay_error. Pure. */
int card_spec_parse(const char *text, struct card_spec *spec);

/* Write the limits as they are given, "sm=80,shared=163Ki", or "" without any. Pure. */
void card_limits_text(const struct card_spec *spec, char *out, size_t size);

/* Reduce `card`, whose hardware has this compute capability x 10, to the limits; with any, also the
 * code for sm_90a goes, which only the whole card of that generation runs. -1 with assay_error
 * where the hardware has less than it is to show. Pure. */
int card_limit(struct assay_card *card, int compute_capability, const struct card_spec *spec);

/* What assay_card() returns from now on. */
void card_show(const struct assay_card *card);
