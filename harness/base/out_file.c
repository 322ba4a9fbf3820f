#define _GNU_SOURCE /* O_TMPFILE */
#include "base/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay.h"
#include "base/error.h"

enum { MODE = 0666, MODE_BITS = 07777 };

/* Resolve links; a file that does not exist yet is at `path`. */
static int find_place(char place[OUT_FILE_PATH], const char *path)
{
    char *found = realpath(path, NULL);
    int length = snprintf(place, OUT_FILE_PATH, "%s", found ? found : path);
    free(found);
    return length < OUT_FILE_PATH ? 0 : assay_error("the path of the output is too long");
}

/* Open the file that will become file->place; -1 with errno. */
static int open_partial(struct out_file *file)
{
    char folder[OUT_FILE_PATH];
    uint64_t nonce;
    if (getentropy(&nonce, sizeof nonce) != 0) return -1;
    snprintf(folder, sizeof folder, "%s", file->place);
    int fd = open(dirname(folder), O_TMPFILE | O_WRONLY | O_CLOEXEC, MODE);
    file->is_nameless = fd >= 0;
    snprintf(file->partial, sizeof file->partial, "%s.partial.%016" PRIx64, file->place, nonce);
    return fd >= 0 ? fd : open(file->partial, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, MODE);
}

static FILE *open_beside(struct out_file *file, const struct stat *replaced)
{
    int fd = open_partial(file);
    if (fd < 0) return NULL;
    if (replaced) fchmod(fd, replaced->st_mode & MODE_BITS); /* best effort */
    FILE *stream = fdopen(fd, "w");
    if (!stream) close(fd);
    return stream;
}

int out_file_replace(struct out_file *file, const char *path)
{
    struct stat there;
    *file = (struct out_file){.path = path};
    if (snprintf(file->place, sizeof file->place, "%s", path) >= OUT_FILE_PATH)
        return assay_error("the path of the output is too long");
    bool exists = lstat(path, &there) == 0;
    if (exists && S_ISDIR(there.st_mode)) return assay_error("%s is a folder", path);
    file->stream = open_beside(file, exists && S_ISREG(there.st_mode) ? &there : NULL);
    return file->stream ? 0 : assay_error("cannot write %s: %s", path, strerror(errno));
}

int out_file_open(struct out_file *file, const char *path)
{
    struct stat there;
    *file = (struct out_file){.stream = stdout};
    if (!path || strcmp(path, "-") == 0) return 0;
    file->path = path;
    bool exists = stat(path, &there) == 0;
    if (exists && !S_ISREG(there.st_mode)) {
        file->stream = fopen(path, "w");
    } else {
        if (find_place(file->place, path) != 0) return -1;
        file->stream = open_beside(file, exists ? &there : NULL);
    }
    return file->stream ? 0 : assay_error("%s: cannot be written: %s", path, strerror(errno));
}

int stream_copy(FILE *out, FILE *in)
{
    char piece[1 << 14];
    size_t count;
    while ((count = fread(piece, 1, sizeof piece, in)) > 0)
        if (fwrite(piece, 1, count, out) != count) break;
    return ferror(in) ? -1 : 0;
}

int out_file_append(struct out_file *file, const char *from)
{
    FILE *in = fopen(from, "re");
    int failed = in ? stream_copy(file->stream, in) : -1;
    if (failed) assay_error("cannot read %s: %s", from, strerror(errno));
    if (in) fclose(in);
    return failed;
}

/* Bring everything to disk, under the temporary name. */
static bool settle(struct out_file *file)
{
    char itself[64];
    if (fflush(file->stream) != 0 || ferror(file->stream)) return false;
    if (!file->partial[0]) return true;
    if (fsync(fileno(file->stream)) != 0) return false;
    if (!file->is_nameless) return true;
    snprintf(itself, sizeof itself, "/proc/self/fd/%d", fileno(file->stream));
    return linkat(AT_FDCWD, itself, AT_FDCWD, file->partial, AT_SYMLINK_FOLLOW) == 0;
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

static int finish_stream(struct out_file *file)
{
    const char *name = file->path ? file->path : "standard output";
    bool fine = settle(file);
    int why = errno;
    if (file->path && fclose(file->stream) != 0 && fine) {
        fine = false;
        why = errno;
    }
    return fine ? 0 : assay_error("%s: cannot be written: %s", name, strerror(why));
}

int out_file_close(struct out_file *file, int status)
{
    if (status == 0)
        status = finish_stream(file);
    else if (file->path) {
        if (ferror(file->stream)) assay_error("%s: %s", file->path, assay_last_error());
        fclose(file->stream);
    }
    if (!file->partial[0]) return status;
    if (status == 0 && rename(file->partial, file->place) != 0)
        status = assay_error("%s: cannot be written: %s", file->path, strerror(errno));
    if (status != 0) unlink(file->partial);
    return status;
}
