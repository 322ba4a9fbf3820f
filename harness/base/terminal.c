#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/terminal.h"

bool terminal_is_live(FILE *out)
{
    const char *term = getenv("TERM");
    return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

static enum terminal_colours colours_wanted;
static bool is_quiet;

void terminal_set_colours(enum terminal_colours colours)
{
    colours_wanted = colours;
}

void terminal_set_quiet(bool quiet)
{
    is_quiet = quiet;
}

bool terminal_is_quiet(void)
{
    return is_quiet;
}

bool terminal_has_colour(FILE *out)
{
    const char *no_colour = getenv("NO_COLOR");
    if (colours_wanted != COLOURS_AUTO) return colours_wanted == COLOURS_ALWAYS;
    return terminal_is_live(out) && !(no_colour && no_colour[0]);
}

void terminal_bar(int done, int all, char out[TERMINAL_BAR])
{
    enum { CELLS = TERMINAL_BAR - 3 };
    int full = all > 0 ? CELLS * done / all : 0;
    if (full > CELLS) full = CELLS;
    snprintf(out, TERMINAL_BAR, "[%.*s%.*s]", full, "####################", CELLS - full,
             "....................");
}

int terminal_width(FILE *out, int otherwise)
{
    struct winsize size;
    return ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col ? otherwise : size.ws_col;
}

bool terminal_colour(void)
{
    return terminal_has_colour(stdout);
}

int terminal_columns(void)
{
    return terminal_width(stdout, isatty(STDOUT_FILENO) ? TERMINAL_USUAL : TERMINAL_ENDLESS);
}
