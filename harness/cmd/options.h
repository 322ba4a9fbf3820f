/*
 * options.h - reading what was typed by a command's table of options (commands.h).
 */
#pragma once

#include "assay.h"
#include "cmd/commands.h"

/* Fill `arguments`, which has the command's defaults: values of options, and its struct given.
 * argv is put in another order and borrowed. 0; 1 when help is asked for; -1 with assay_error,
 * which suggests the option or the word that was likely meant. */
int options_parse(const struct command *command, int argc, char **argv, void *arguments);

/* The first of these options, named with blanks between them, that was given; NULL: none. */
const char *option_given(const struct given *given, const char *names);

/* Whether `text` is among `choices` (with blanks between them): 0, or -1 with assay_error,
 * which begins with `what` and suggests the one that was likely meant. */
int choice_check(const char *what, const char *text, const char *choices);

/* The choices as a sentence has them: "table, md or json". */
enum { CHOICES_MOST = 256 };
void choices_text(char out[CHOICES_MOST], const char *choices);

/* Take the next of `choices` off its beginning into `out`; false when there is none. */
bool choices_next(const char **choices, char out[ASSAY_MAX_NAME]);

/* Where --db is not given, or NULL. */
const char *database_default(const char *option);
