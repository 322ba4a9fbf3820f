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

bool terminal_has_colour(FILE *out)
{
    const char *no_colour = getenv("NO_COLOR");
    return terminal_is_live(out) && !(no_colour && no_colour[0]);
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
    return terminal_width(stdout, 100);
}
