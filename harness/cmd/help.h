/* help.h - the help of a command, as `assay help NAME` prints it and the man page has it. */
#pragma once

#include <stdio.h>

#include "cmd/commands.h"
#include "cmd/manual.h"

/* What stands behind the commands, ended by a NULL heading. */
extern const struct manual_section program_sections[];

/* The text of one command, or of the program; manual.h says of what form. */
void help_write(FILE *out, const struct command *command);

/* The same on standard output; behind that of the program the commands and program_sections. */
void help_print(const struct command *command);
