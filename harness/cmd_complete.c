/* cmd_complete.c - assay complete WORD...: for the shells, which ask it at every tab. */
#include "commands.h"
#include "complete.h"
#include "exit_code.h"

int cmd_complete(int argc, char **argv)
{
    complete_line(stdout, argv + 1, argc - 1);
    return EXIT_FINE;
}
