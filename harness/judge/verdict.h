/*
 * verdict.h - the verdicts of compare and gate, and the exit code that follows from them.
 * Pure.
 */
#pragma once

#include <stdbool.h>

/* Worst first: the order of reports. */
enum verdict {
    VERDICT_ERROR,        /* the candidate crashed, timed out or gave a wrong answer */
    VERDICT_MISSING,      /* the base has it, the candidate does not */
    VERDICT_REGRESSED,    /* shown slower than the floor allows */
    VERDICT_SUSPECT,      /* looks changed, but launches from separate sessions cannot prove it */
    VERDICT_UNSTABLE,     /* the measurement failed, not the candidate */
    VERDICT_INCONCLUSIVE, /* the interval straddles the floor */
    VERDICT_INCOMPARABLE, /* another device, driver, clock or definition */
    VERDICT_IMPROVED,     /* shown faster by more than the floor */
    VERDICT_NEW,          /* the candidate has it, the base does not */
    VERDICT_PASS,         /* shown not slower than the floor allows */
    VERDICTS,
};

/* Likely causes, one bit each. */
enum verdict_tag {
    TAG_CLOCK = 1,     /* the time differs, but the cycles do not */
    TAG_THROTTLE = 2,  /* the device reported a slow-down */
    TAG_BIMODAL = 4,   /* launches fall into two groups */
    TAG_SAME_CODE = 8, /* both sides ran identical machine code */
    TAG_DRIVER = 16,   /* the sides had different drivers */
    TAG_ACK = 32,      /* acknowledged: reported, but no reason to fail */
    TAG_FASTER = 64,   /* for SUSPECT: it looks faster */
    TAGS = 7,
};

const char *verdict_name(enum verdict verdict);
int verdict_parse(const char *name); /* or -1; case does not matter */
const char *tag_name(int bit);       /* name of tag 1 << bit, bit < TAGS */

/* "CLOCK BIMODAL"; "" for none. */
void tags_text(unsigned tags, char *out, int size);

/* The exit code. `counts` counts all verdicts, `blocking` those that are not acknowledged;
 * fail_on is a set of bits 1 << verdict. Precedence 5, 1, 4, 3, 0: a lost case or a
 * regression is reported even if others could not be compared, and comparing nothing is
 * never success. Sides without a common case give 4. */
int verdict_exit(const int blocking[VERDICTS], const int counts[VERDICTS], unsigned fail_on);

/* Parse "REGRESSED,INCONCLUSIVE" into bits; "any" is all but PASS, IMPROVED and NEW. -1
 * with assay_error. */
int verdict_set_parse(const char *text, unsigned *set);
