/*
 * program_build.h - the program that a word names: a file, or a revision of git, which is built
 * where nobody did so before.
 *
 * Built programs are kept in $XDG_CACHE_HOME/assay/builds (else ~/.cache/...), in a folder per
 * commit and command, with the suites of that commit beside them. The sources are a worktree of
 * git that is removed afterwards.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

enum build_end {
    BUILD_DONE,
    BUILD_STOPPED, /* a signal asks this process to end */
    BUILD_FAILED,
};

/* The command that builds BUILD/assay as this program was built: with CUDA or without. */
void program_make_command(const char *build, char *out, size_t size);

/* `make` makes build/assay in the tree's folder. Whatever is not DONE has its reason in
 * assay_error; the end of a failed build's log is written to standard error before. */
enum build_end program_of(const char *word, const char *make, char path[PATH_MAX]);

/* Whether two files have the same bytes. */
int program_same(const char *path, const char *other);
