/*
 * host_words.h - words among a kernel's arguments that are addresses of this process's own memory.
 * As a rule no kernel reads them: they are what the stack held where a structure has a gap, and
 * differ from process to process, since the system places stack, heap and libraries by chance.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The word, with zeros in place of an address of the host, or of the upper half of one where the
 * gap is of four bytes: another process may have zeros there. `is_address`: the whole of it is one.
 * For words that are in no allocation of the device. One thread. */
uint64_t host_words_plain(uint64_t word, bool *is_address);

/* Whether bytes of this process are there to be read, by their first and last: none are read in
 * vain. */
bool host_words_readable(uint64_t at, uint64_t bytes);

/* So many bytes at the beginning of a parameter of so many, of a kernel by its linker's name, are
 * left unset by its library: what was in memory there before. */
int host_words_unset(const char *kernel, int bytes);
