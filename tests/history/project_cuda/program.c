/* program.c - the program of the environment's $ASSAY when this was made, with the variants beside
 * this one. It has their code too, and says so by a section (assay_family), as Assay's own builds
 * do: a gate can then have them as twins, and tells what changed in them. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words)
{
    static const char name[] = "/libassay_variants.so";
    char object[PATH_MAX + sizeof name], *argv[count + 3];
    ssize_t length = readlink("/proc/self/exe", object, PATH_MAX - 1);
    object[length > 0 ? length : 0] = '\0';
    char *end = strrchr(object, '/');
    strcpy(end ? end : object, name);
    memcpy(argv, words, (size_t)count * sizeof *argv);
    argv[0] = PROGRAM;
    argv[count] = "--load";
    argv[count + 1] = object;
    argv[count + 2] = NULL;
    execv(PROGRAM, argv);
    perror(PROGRAM);
    return 2;
}
