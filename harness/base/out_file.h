/*
 * out_file.h - a file that appears whole or not at all: written beside its place
 * without a name, and named once all of it is on the disk. A process that is killed on
 * the way leaves nothing behind. (Where the file system has no files without a name, one
 * with another name is written, and can be left.) What is no file (a device, a pipe) is
 * written to as it is, a link is followed, and a file that is replaced hands its
 * permissions on.
 */
#ifndef OUT_FILE_H
#define OUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

enum { OUT_FILE_PATH = 4096 };

struct out_file {
    FILE *stream;
    const char *path;                 /* borrowed; NULL: standard output */
    char place[OUT_FILE_PATH];        /* the file that `path` leads to */
    char partial[OUT_FILE_PATH + 32]; /* its name until it is whole; "": written in its place */
    bool is_nameless;                 /* `partial` is given to it only then */
};

/* `path` NULL or "-" is standard output. 0, or -1 with assay_error. */
int out_file_open(struct out_file *file, const char *path);

/* Whether it could be written now, for what takes long before it writes; leaves nothing
 * behind. 0, or -1 with assay_error. */
int out_file_try(const char *path);

/* Put the file in its place when `status` is 0, else remove it and keep the
 * error as it was. Returns 0 or -1. */
int out_file_close(struct out_file *file, int status);

#endif
