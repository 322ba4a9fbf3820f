/*
 * system_file.h - the short files in which a kernel and a system tell of themselves
 * (/proc, /sys, /etc), and the kind of disk that a file is on.
 */
#ifndef SYSTEM_FILE_H
#define SYSTEM_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { SYSTEM_FILE_START = 16384 }; /* what is looked for stands before it */

/* The start of a file below `root` ("" is this machine), with NULs (arguments, tables)
 * made newlines; false and "" when it cannot be
 * read. */
bool system_file_read(const char *root, const char *path, char *text, size_t size);

/* What a path's file system is called where processes of several hosts may share it:
 * "NFS". NULL elsewhere, and where nobody can tell. FUSE is among them: its file
 * systems do not say whether they are local. */
const char *system_disk_shared(const char *path);

#endif
