#include "commands.h"
const char usage_report[] = "usage: assay report\n";
int cmd_report(int argc, char **argv) { (void)argc; (void)argv; return EXIT_NOTHING; }
