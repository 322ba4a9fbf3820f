/* out_file.c - a file that appears whole or not at all. */
#include "out_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay.h"

/* Where the file is to be, through links; a file that is not there yet is at `path`. */
static int find_place(char place[OUT_FILE_PATH], const char *path)
{
    char *found = realpath(path, NULL);
    int length = snprintf(place, OUT_FILE_PATH, "%s", found ? found : path);
    free(found);
    return length < OUT_FILE_PATH ? 0 : assay_error("the path of the output is too long");
}

int out_file_open(struct out_file *file, const char *path)
{
    struct stat there;
    *file = (struct out_file){.stream = stdout};
    if (!path || strcmp(path, "-") == 0) return 0;
    file->path = path;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        file->stream = fopen(path, "w");
    } else {
        if (find_place(file->place, path) != 0) return -1;
        snprintf(file->partial, sizeof file->partial, "%s.partial.%ld", file->place,
                 (long)getpid());
        file->stream = fopen(file->partial, "w");
    }
    return file->stream ? 0 : assay_error("%s: cannot be written: %s", path, strerror(errno));
}

int out_file_try(const char *path)
{
    struct stat there;
    struct out_file file;
    if (!path || strcmp(path, "-") == 0) return 0;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) /* opening a pipe has its effects */
        return S_ISDIR(there.st_mode) ? assay_error("%s is a folder", path) : 0;
    if (out_file_open(&file, path) != 0) return -1;
    out_file_close(&file, -1);
    return 0;
}

/* On the disk, or why not. */
static int finish_stream(struct out_file *file)
{
    const char *name = file->path ? file->path : "standard output";
    bool failed = ferror(file->stream) || fflush(file->stream) != 0;
    if (file->path) {
        failed = failed || (file->partial[0] && fsync(fileno(file->stream)) != 0);
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
    if (!file->partial[0]) return status;
    if (status == 0 && rename(file->partial, file->place) != 0)
        status = assay_error("%s: cannot be written: %s", file->path, strerror(errno));
    if (status != 0) unlink(file->partial);
    return status;
}
