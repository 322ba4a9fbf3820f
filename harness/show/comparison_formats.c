/* comparison_formats.c - a comparison in the format that is asked for. */
#include <string.h>

#include "base/error.h"
#include "base/out_file.h"
#include "base/terminal.h"
#include "show/comparison_formats.h"

int comparison_write(FILE *out, const struct comparison *comparison,
                     const struct comparison_options *options)
{
    const char *format = options->format;
    if (!strcmp(format, "table")) return comparison_table(out, comparison, options);
    if (!strcmp(format, "md")) return comparison_md(out, comparison);
    if (!strcmp(format, "json")) return comparison_json(out, comparison);
    if (!strcmp(format, "html")) return comparison_html(out, comparison);
    if (!strcmp(format, "junit")) return comparison_junit(out, comparison);
    return assay_error("a comparison is not written as '%s'", format);
}

int comparison_save(const struct comparison *comparison, const char *format, const char *path,
                    bool all)
{
    const struct comparison_options options = {.format = format,
                                               .colour = !path && terminal_colour(),
                                               .all = all,
                                               .width = path ? 0 : terminal_width(stdout, 0)};
    struct out_file file;
    if (out_file_open(&file, path) != 0) return -1;
    return out_file_close(&file, comparison_write(file.stream, comparison, &options));
}
