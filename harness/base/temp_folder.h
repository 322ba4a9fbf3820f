/*
 * temp_folder.h - a folder for files that nobody needs once this process has ended. It is locked
 * while its owner lives: folders of owners that were killed are removed when the next is made.
 */
#pragma once

#include <limits.h>

struct temp_folder {
    char path[PATH_MAX]; /* "" none */
    int lock;
};

/* In $TMPDIR, or /tmp; `kind` is a part of its name ("launch"). -1 with assay_error. */
int temp_folder_make(struct temp_folder *folder, const char *kind);

/* Remove it with the files in it, of which none is a folder. */
void temp_folder_remove(struct temp_folder *folder);
