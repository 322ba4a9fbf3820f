/*
 * zstd_file.h - streams in the format of Zstandard (RFC 8878): what is written to one goes
 * compressed into another stream, what is read from one comes decompressed out of another.
 * The only user of libzstd; where the program was built without it, opening one is an error
 * that says so.
 *
 * Reading holds one window of the format in memory, at most 128 MiB, whatever the size of the
 * file. A file that is cut short, damaged or made to grow without measure is a read error of
 * the stream; zstd_close then says which.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct zstd_file {
    FILE *stream;               /* for the caller; zstd_close closes it */
    const char *name;           /* borrowed: what errors call the file */
    FILE *packed;               /* borrowed: the compressed bytes */
    void *context;              /* of libzstd */
    unsigned char *piece;       /* compressed bytes on their way */
    size_t piece_at, piece_end; /* reading: what of `piece` is still to be decompressed */
    double bytes_in, bytes_out;
    bool is_whole;     /* reading: the last frame has ended */
    const char *fault; /* why reading failed; NULL: it did not */
};

/* Whether a file name ends in ".zst". */
bool zstd_is_named(const char *path);

/* Whether a stream that can be rewound, and is, holds this format. */
bool zstd_is_packed(FILE *in);

/* Open for reading, from the start of `packed` (which file->stream can be rewound to), or for
 * writing. 0, or -1 with assay_error and nothing to close. */
int zstd_open_read(struct zstd_file *file, const char *name, FILE *packed);
int zstd_open_write(struct zstd_file *file, const char *name, FILE *packed);

/* Write what is left and the end of the format, unless `status` is not 0, and close the stream
 * but not `packed`. Returns 0 or -1; the error that is set stays, but for what reading failed
 * on, which explains it. */
int zstd_close(struct zstd_file *file, int status);
