/*
 * code_show.h - where the machine code of two builds differs, as text.
 */
#pragma once

#include <stdio.h>

struct code_difference;

/* The functions that differ, at most `most` of them, each with what it has more or less of and,
 * in `lines` lines at most, its instructions side by side. */
void code_show(FILE *out, const struct code_difference *difference, int most, int lines);
