#include <stdarg.h>
#include <stdio.h>

#include "assay.h"
#include "base/error.h"
#include "base/text.h"

/* The message must outlive the call that failed; a thread handles one failure at a time. */
static _Thread_local char last_error[1024];

int assay_error(const char *format, ...)
{
    char text[sizeof last_error]; /* the arguments may be of the message before */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_printable(last_error, sizeof last_error, text, "\n");
    return -1;
}

const char *assay_last_error(void)
{
    return last_error;
}

void assay_clear_error(void)
{
    last_error[0] = '\0';
}
