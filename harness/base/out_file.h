/*
 * out_file.h - an output file that appears complete or not at all. It is written without
 * a name (O_TMPFILE) in the same folder and gets its name once everything is on disk, so a
 * process that is killed leaves nothing behind. On file systems without O_TMPFILE a new file
 * with a temporary name is written, which a killed process may leave; nobody can guess it, and
 * it is never one that is there. Devices and pipes are written to directly, symbolic links are
 * followed, and a file that is replaced keeps its permissions.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { OUT_FILE_PATH = 4096 };

struct out_file {
    FILE *stream;
    const char *path;                 /* borrowed; NULL: standard output */
    char place[OUT_FILE_PATH];        /* `path` with symbolic links resolved */
    char partial[OUT_FILE_PATH + 48]; /* temporary name; "": written directly */
    bool is_nameless;                 /* opened without a name; `partial` is linked at the end */
};

/* `path` NULL or "-" is standard output. 0, or -1 with assay_error. */
int out_file_open(struct out_file *file, const char *path);

/* The same for a name that the user did not choose, or not to be written through: whatever has it,
 * a link or a pipe, gives way to the file. */
int out_file_replace(struct out_file *file, const char *path);

/* Write all that is left in `in`. -1 with errno where it cannot be read; what `out` did not take
 * shows when it is closed. */
int stream_copy(FILE *out, FILE *in);

/* Write what is in the file `from`. 0, or -1 with assay_error. */
int out_file_append(struct out_file *file, const char *from);

/* Check that `path` could be written, before long work; creates nothing. -1 with assay_error. */
int out_file_try(const char *path);

/* Give it its final name when `status` is 0, else discard it and keep the error. 0 or -1. */
int out_file_close(struct out_file *file, int status);
