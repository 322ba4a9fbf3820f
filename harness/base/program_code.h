/*
 * program_code.h - a hash of the machine code of this program's host side, by which two builds can
 * be told to do the same.
 */
#pragma once

enum { PROGRAM_CODE = 33 }; /* 32 hex digits and the end */

/* Of what the loader maps of the file that holds this function (code, constants, initial data), but
 * for what says when and of which commit it was built, and for code of a GPU, which whoever
 * launches it hashes; of the names, sizes and times of the other libraries that are loaded; and of
 * the environment, on which what a program does may depend. "" where a file cannot be read. */
void program_code(char out[PROGRAM_CODE]);

/* The first part alone, of any 64-bit ELF file. 0, or -1 with assay_error. */
int program_code_of_file(const char *path, char out[PROGRAM_CODE]);

/* What a build says of itself stands in this section and is no part of the hash. */
#define PROGRAM_FACT __attribute__((section("assay_provenance"), used))
