/* cmd_complete.c - assay complete WORD...: for the shells, which ask it at every tab. */
#include "base/exit_code.h"
#include "cmd/commands.h"
#include "cmd/complete.h"

int cmd_complete(int argc, char **argv)
{
    complete_line(stdout, argv + 1, argc - 1);
    return EXIT_FINE;
}
