/*
 * account.h - what the difference of two times of a case is made of: an additive account, by
 * arithmetic on stored facts. Pure.
 *
 * A time is what its launches cost (the start of each, and the gaps between them) and its work:
 *
 *   time = launches x start + gaps + work
 *   work = instructions / (clock x share of the issue slots that were used)
 *   work = bytes / (bandwidth x share of it that was used)
 *
 * Both lines of the work hold at once, and which of them says why the work takes longer is a
 * question of what binds: the second one where the memory is busy, the first where it is not, and a
 * part of each in between (MEMORY_IDLE, MEMORY_BUSY: the shares of device/profile_rules.c). The
 * difference of a product is divided among its factors by logarithmic means, which leaves nothing
 * over and does not depend on an order of the factors (Ang, "The LMDI approach to decomposition
 * analysis: a practical guide", Energy Policy 33, 2005). So what is unexplained is what no stored
 * fact accounts for, and the terms and it are the difference exactly.
 */
#pragma once

enum account_term {
    TERM_LAUNCHES,     /* there are more of them: their starts, and a gap for each */
    TERM_GAPS,         /* those that were there take longer */
    TERM_CLOCK,        /* of the multiprocessors */
    TERM_BYTES,        /* to and from memory */
    TERM_INSTRUCTIONS, /* of warps */
    TERM_WAITS, /* slots without an instruction; where memory binds, time without a transfer */
    ACCOUNT_TERMS,
};
const char *account_term_name(int term);

/* Of one side. NAN: not known. */
struct account_facts {
    double time_ns;
    double launches; /* kernels, copies and fills of one launch of the case */
    double start_ns; /* what a launch takes that does nothing */
    double gaps_ns;  /* within the time, when nothing ran */
    double sm_mhz;
    double bytes;
    double instructions;
    double issue_share;  /* of the issue slots, 0 to 1 */
    double memory_share; /* of the memory's bandwidth, 0 to 1 */
};

struct account {
    double difference_ns;          /* candidate less base */
    double term_ns[ACCOUNT_TERMS]; /* NAN: a fact that it takes is not known */
    double unexplained_ns;         /* the difference less the terms that are known */
};

/* Below the one the memory does not bind, above the other nothing else does. */
static const double MEMORY_IDLE = 0.6, MEMORY_BUSY = 0.8;

/* Both times are known. */
struct account account_make(const struct account_facts *base,
                            const struct account_facts *candidate);
