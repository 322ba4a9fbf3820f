#include <string.h>

#include "base/text.h"
#include "show/comparison_formats.h"
#include "suite/suite_find.h"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool suite_word_is_there(const struct comparison_side *side)
{
    return begins(side->command, "assay ") && !begins(side->command, "assay bench ") &&
           !begins(side->command, "assay time ");
}

bool suite_word_of(const struct comparison_side *side, char out[SUITE_WORD])
{
    char path[SUITE_MAX_PATH], name[ASSAY_MAX_NAME], command[sizeof side->command];
    char *rest = command;
    text_copy(out, SUITE_WORD, side->suite);
    if (suite_find(side->suite, NULL, path) == 0) return true;
    strcpy(command, side->command);
    for (char *word; (word = strsep(&rest, " "));) {
        if (!text_ends(word, ".ini") || suite_find(word, NULL, path) != 0) continue;
        suite_name_of(word, name);
        if (strcmp(name, side->suite) != 0) continue;
        text_copy(out, SUITE_WORD, word);
        return true;
    }
    strcpy(out, "SUITE");
    return false;
}
