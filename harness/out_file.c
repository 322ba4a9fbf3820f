/* out_file.c - a file that appears whole or not at all. */
#include "out_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "assay.h"

int out_file_open(struct out_file *file, const char *path)
{
    *file = (struct out_file){.stream = stdout};
    if (!path || strcmp(path, "-") == 0) return 0;
    if (strlen(path) >= OUT_FILE_PATH) return assay_error("the path of the output is too long");
    file->path = path;
    snprintf(file->partial, sizeof file->partial, "%s.partial.%ld", path, (long)getpid());
    file->stream = fopen(file->partial, "w");
    return file->stream ? 0 : assay_error("%s: cannot be written: %s", path, strerror(errno));
}

/* On the disk, or why not. */
static int finish_stream(struct out_file *file)
{
    const char *name = file->path ? file->path : "standard output";
    bool failed = ferror(file->stream) || fflush(file->stream) != 0;
    if (file->path) {
        failed = failed || fsync(fileno(file->stream)) != 0;
        failed = fclose(file->stream) != 0 || failed;
    }
    return failed ? assay_error("%s: cannot be written: %s", name, strerror(errno)) : 0;
}

int out_file_close(struct out_file *file, int status)
{
    if (status == 0)
        status = finish_stream(file);
    else if (file->path)
        fclose(file->stream);
    if (!file->path) return status;
    if (status == 0 && rename(file->partial, file->path) != 0)
        status = assay_error("%s: cannot be written: %s", file->path, strerror(errno));
    if (status != 0) unlink(file->partial);
    return status;
}
