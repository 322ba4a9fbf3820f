/*
 * widest.h - WIDEST in front of a function compiles it once per vector width; the program takes the
 * widest one that the processor has when it starts.
 */
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDEST __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define WIDEST
#endif
