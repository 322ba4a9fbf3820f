/*
 * complete.h - what may stand at the end of a half-typed command line: commands
 * and options from their tables, and the names that suites, the registry and the
 * database know. The shells' scripts (completions/) only ask and show.
 */
#pragma once

/* `assay complete WORD...`: print, one per line, what may stand for the last word ("" when it is
 * still to come); the first is the program. The line ":files" stands for the names of files.
 * Names that cannot be had (no database yet) are left out in silence. */
int complete_command(int argc, char **argv);
