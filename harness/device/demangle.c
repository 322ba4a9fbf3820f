#include "device/demangle.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the C++ runtime, which nvcc links: "The Itanium C++ ABI", section 3.4. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status)
    __attribute__((weak));

void demangle(const char *mangled, char *out, size_t size)
{
    int status = 0;
    /* A kernel of C may be called `a`, which as a mangled type is a signed char. */
    bool is_mangled = strncmp(mangled, "_Z", 2) == 0 && __cxa_demangle;
    char *name = is_mangled ? __cxa_demangle(mangled, NULL, NULL, &status) : NULL;
    snprintf(out, size, "%s", status == 0 && name ? name : mangled);
    free(name);
}
