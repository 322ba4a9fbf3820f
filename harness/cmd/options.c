/* options.c - see options.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "assay.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/options.h"

enum { MOST_OPTIONS = 64 };

int option_misused(char **argv, int returned, const struct option *options)
{
    const char *names[MOST_OPTIONS];
    int count = 0;
    const char *given = argv[optind - 1];
    if (returned == ':') return assay_error("%s needs a value", given);
    if (strncmp(given, "--", 2)) return assay_error("unknown option '-%c'", optopt);

    for (; options[count].name && count < MOST_OPTIONS; count++)
        names[count] = options[count].name;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(given + 2, "="), given + 2);
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], word)) return assay_error("--%s takes no value", word);
    const char *near = text_nearest(word, names, count);
    if (near) return assay_error("unknown option '--%s'; did you mean --%s?", word, near);
    return assay_error("unknown option '--%s'", word);
}

int option_check_readable(char *const *paths, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(paths[i], "-") && access(paths[i], R_OK))
            return assay_error("%s: cannot be read: %s", paths[i], strerror(errno));
    return 0;
}

int command_failed(const char *name)
{
    fprintf(stderr, "assay %s: %s\n", name, assay_last_error());
    return EXIT_USAGE;
}
