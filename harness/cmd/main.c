/* main.c - the program that is started by its own name. */
#include "cmd/assay_program.h"

int main(int argc, char **argv)
{
    return assay_program(NULL, NULL, 0, argc, argv);
}
