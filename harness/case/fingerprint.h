/*
 * fingerprint.h - what a case does on its device, as facts in order: what it is defined as, its
 * inputs, what was set up and launched, with which machine code and arguments. Two programs whose
 * fingerprints of a case are the same do the same (judge/proof.h). Plain data.
 *
 * A fact is a line "WHAT: ITEM; ITEM". All of it counts; the first ones are kept as text, so that
 * a difference can be told.
 */
#pragma once

#include "base/program_code.h"
#include "case/result.h"
#include "base/sha256.h"

enum { FINGERPRINT_KEPT = 48, FINGERPRINT_FACT = 240, FINGERPRINT_HASH = 33 };

struct fingerprint {
    struct case_id id;
    char program[PROGRAM_CODE];     /* of the host's code; "" unknown */
    bool needs_program;             /* its times are made by the host's code too */
    char unknown[ASSAY_MAX_REASON]; /* why the facts are not all that counts; "" they are */
    int64_t count;                  /* of facts */
    struct sha256 state;            /* of those so far */
    char hash[FINGERPRINT_HASH];    /* of all, once it is ended */
    char fact[FINGERPRINT_KEPT][FINGERPRINT_FACT]; /* the first ones, as far as they fit */
};

void fingerprint_begin(struct fingerprint *print, const struct case_id *id);
/* Add a fact; "what" is cut nowhere in the hash. */
void fingerprint_add(struct fingerprint *print, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Say why the facts are not all that counts; the first reason stays. */
void fingerprint_doubt(struct fingerprint *print, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void fingerprint_end(struct fingerprint *print);

/* Those of one program, in the order of case_id_order once they are sorted by who compares. */
struct fingerprints {
    struct fingerprint *list;
    int count;
};

/* A file of them: a head, then each. A build of another version refuses it. */
int fingerprints_write_head(FILE *out);
int fingerprint_write(FILE *out, const struct fingerprint *print);
/* 0, or -1 with assay_error: no file of fingerprints, of another version, or not whole. */
int fingerprints_read(struct fingerprints *prints, const char *path);
void fingerprints_release(struct fingerprints *prints);
