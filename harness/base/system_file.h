/*
 * system_file.h - reads the small files that describe a system (/proc, /sys, /etc), and
 * tells whether a file is on a network file system.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SYSTEM_FILE_START = 16384 }; /* bytes that are enough to find what is looked for */

/* Read the start of a file below `root` ("" is this machine); NUL bytes (in argument
 * lists and tables) become newlines. False and "" when it cannot be read. */
bool system_file_read(const char *root, const char *path, char *text, size_t size);

/* The name of the path's file system ("NFS") if several hosts may share it; NULL if not,
 * or if unknown. FUSE counts as shared: its file systems do not say whether they are
 * local. */
const char *system_disk_shared(const char *path);
