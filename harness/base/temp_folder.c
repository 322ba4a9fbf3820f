#include "base/temp_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "assay.h"

enum { OLD_S = 60 };

/* What mkdtemp replaces. */
static const char random_end[] = "XXXXXX";

static const char *base_folder(void)
{
    const char *base = getenv("TMPDIR");
    return base && base[0] ? base : "/tmp";
}

/* The files in the folder that `fd` is open on. */
static void empty(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *files = copy >= 0 ? fdopendir(copy) : NULL;
    if (files == NULL && copy >= 0) close(copy);
    for (struct dirent *file; files && (file = readdir(files));)
        if (file->d_name[0] != '.') unlinkat(fd, file->d_name, 0);
    if (files) closedir(files);
}

/* A folder of this user whose owner has ended; a new one may not be locked yet. */
static void sweep_one(int base, const char *name)
{
    struct stat about;
    int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &about) == 0 && about.st_uid == geteuid() &&
        about.st_mtime + OLD_S < time(NULL) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        empty(fd);
        unlinkat(base, name, AT_REMOVEDIR);
    }
    close(fd);
}

/* Those that have the name of `made`, but for its random end. */
static void sweep(const char *base, const char *made)
{
    const char *name = strrchr(made, '/') + 1;
    size_t length = strlen(name), kind = length - strlen(random_end);
    DIR *folders = opendir(base);
    for (struct dirent *other; folders && (other = readdir(folders));)
        if (strlen(other->d_name) == length && strncmp(other->d_name, name, kind) == 0)
            sweep_one(dirfd(folders), other->d_name);
    if (folders) closedir(folders);
}

int temp_folder_make(struct temp_folder *folder, const char *kind)
{
    const char *base = base_folder();
    int length =
        snprintf(folder->path, sizeof folder->path, "%s/assay-%s.%s", base, kind, random_end);
    bool made = length < (int)sizeof folder->path && mkdtemp(folder->path);
    folder->lock = -1;
    if (!made) {
        folder->path[0] = '\0';
        return assay_error("cannot make a temporary folder in %s: %s", base,
                           length < (int)sizeof folder->path ? strerror(errno)
                                                             : strerror(ENAMETOOLONG));
    }
    sweep(base, folder->path);
    folder->lock = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->lock >= 0) flock(folder->lock, LOCK_EX | LOCK_NB);
    return 0;
}

int temp_folder_write(const char *path, const void *bytes, size_t size)
{
    FILE *out = fopen(path, "wxe");
    bool is_written = out && fwrite(bytes, 1, size, out) == size;
    if (out && fclose(out) != 0) is_written = false;
    return is_written ? 0 : assay_error("%s: cannot be written: %s", path, strerror(errno));
}

int temp_folder_copy(const char *path, const char *from)
{
    ssize_t sent = 1;
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in < 0) return assay_error("%s: cannot be read: %s", from, strerror(errno));
    int out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    while (out >= 0 && sent > 0)
        sent = sendfile(out, in, NULL, 1 << 30);
    bool is_copied = out >= 0 && sent == 0;
    int why = errno;
    if (out >= 0 && close(out) != 0 && is_copied) {
        is_copied = false;
        why = errno;
    }
    close(in);
    return is_copied ? 0 : assay_error("%s: cannot be copied: %s", from, strerror(why));
}

void temp_folder_remove(struct temp_folder *folder)
{
    if (folder->path[0] == '\0') return;
    if (folder->lock >= 0) {
        empty(folder->lock);
        close(folder->lock);
    }
    rmdir(folder->path);
    *folder = (struct temp_folder){.lock = -1};
}
