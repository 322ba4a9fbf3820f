/*
 * temp_folder.h - a folder for files that nobody needs once this process has ended. It is locked
 * while its owner lives: folders of owners that were killed are removed when the next is made.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

struct temp_folder {
    char path[PATH_MAX]; /* "" none */
    int lock;
};

/* In $TMPDIR, or /tmp; `kind` is a part of its name ("launch"). -1 with assay_error. */
int temp_folder_make(struct temp_folder *folder, const char *kind);

/* A new file with these bytes, or a copy of `from` to be run or loaded. -1 with assay_error. */
int temp_folder_write(const char *path, const void *bytes, size_t size);
int temp_folder_copy(const char *path, const char *from);

/* Remove it with the files in it, of which none is a folder. */
void temp_folder_remove(struct temp_folder *folder);
