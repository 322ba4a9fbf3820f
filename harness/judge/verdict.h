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
    VERDICT_UNCHANGED,    /* proven to do the same, and not launched (proof.h) */
    VERDICTS,
};

/* Likely causes, one bit each. */
enum verdict_tag {
    TAG_CLOCK = 1,       /* the time differs, but the cycles do not */
    TAG_THROTTLE = 2,    /* the device reported a slow-down */
    TAG_BIMODAL = 4,     /* launches fall into two groups */
    TAG_SAME_CODE = 8,   /* both sides ran identical machine code */
    TAG_DRIVER = 16,     /* the sides had different drivers */
    TAG_ACK = 32,        /* acknowledged: reported, but no reason to fail */
    TAG_FASTER = 64,     /* for SUSPECT: it looks faster */
    TAG_REDEFINED = 128, /* for INCOMPARABLE: the candidate states other work or another input */
    TAG_STEPS = 256,     /* a short time: judged by means of samples, below the clock's steps */
    TAG_UNCHECKED = 512, /* nothing says whether the answer of a side is right */
    TAG_AUDIT = 1024,    /* proven unchanged, and measured all the same */
    TAGS = 11,
};

const char *verdict_name(enum verdict verdict);
int verdict_parse(const char *name); /* or -1; case does not matter */
const char *tag_name(int bit);       /* name of tag 1 << bit, bit < TAGS */

/* "CLOCK BIMODAL"; "" for none. */
void tags_text(unsigned tags, char *out, int size);

/* Whether a change is shown: slower, or faster. */
bool verdict_is_change(enum verdict verdict);

/* Whether the verdict says what became of the case, rather than why that is not known. */
bool verdict_is_judged(enum verdict verdict);

/* What a comparison came to. */
struct verdict_tally {
    int counts[VERDICTS];   /* all */
    int blocking[VERDICTS]; /* those that are not acknowledged */
    int redefined;          /* with TAG_REDEFINED, and not acknowledged */
    int judged, cases;      /* cases: all but NEW. Acknowledged ones count as judged */
    double least_judged;    /* the share of them that a gate wants; NAN: it is none */
};

/* Whether no case has a time on both sides. */
bool verdict_nothing_compared(const struct verdict_tally *tally);
/* Whether too little was judged: none, or a smaller share than is wanted. */
bool verdict_too_few_judged(const struct verdict_tally *tally);

/* The exit code; fail_on is a set of bits 1 << verdict. Precedence 5, 1, 4, 3, 0: a lost case or
 * a regression is reported even if others could not be compared, and comparing nothing is
 * never success; nor is a gate one that judged too few cases, or whose candidate redefined one.
 * Sides without a common case give 4. */
int verdict_exit(const struct verdict_tally *tally, unsigned fail_on);

/* Parse "REGRESSED,INCONCLUSIVE" into bits; "any" is all but PASS, UNCHANGED, IMPROVED and NEW. -1
 * with assay_error. */
int verdict_set_parse(const char *text, unsigned *set);
