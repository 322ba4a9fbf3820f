#define _GNU_SOURCE /* pipe2 */
#include "gate/program_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process.h"
#include "case/run_record.h"
#include "gate/program_launch.h"
#include "gate/program_wait.h"
#include "run/interrupt.h"

/* What `script` ends with where the word is no revision. */
enum { NO_REVISION = 3 };

/* See build_revision.sh. */
static const char script[] = {
#include "build_revision.inc"
};

static int builds_folder(char out[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache && cache[0] == '/')
        length = snprintf(out, PATH_MAX, "%s/assay/builds", cache);
    else if (home && home[0] == '/')
        length = snprintf(out, PATH_MAX, "%s/.cache/assay/builds", home);
    if (length > 0 && length < PATH_MAX) return 0;
    return assay_error("there is no folder for builds: neither XDG_CACHE_HOME nor HOME is set");
}

void program_make_command(const char *build, char *out, size_t size)
{
    struct program_info build_of_this;
    provenance_program(&build_of_this);
    snprintf(out, size, "make -j%ld BUILD=%s%s %s/assay", sysconf(_SC_NPROCESSORS_ONLN), build,
             build_of_this.nvcc[0] ? "" : " CUDA=0", build);
}

/* Run the script; what it writes is its last line. */
static enum build_end run_script(const char *revision, const char *make, char path[PATH_MAX],
                                 int *code)
{
    char folder[PATH_MAX];
    int output[2], status = 0;
    pid_t pid;
    if (builds_folder(folder) != 0) return BUILD_FAILED;
    const char *const argv[] = {"sh", "-c", script, "assay", revision, folder, make, NULL};
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || pipe2(output, O_CLOEXEC) != 0) {
        if (nothing >= 0) close(nothing);
        return assay_error_as(BUILD_FAILED, "cannot build %s: %s", revision, strerror(errno));
    }
    const struct process_file files[] = {{nothing, STDIN_FILENO}, {output[1], STDOUT_FILENO}};
    const struct process_start start = {
        .program = "/bin/sh", .argv = argv, .files = files, .file_count = 2, .own_group = true};
    interrupt_catch();
    int error = process_start(&start, &pid);
    enum build_end end = BUILD_FAILED;
    close(nothing);
    close(output[1]);
    if (error) {
        assay_error("/bin/sh cannot be started: %s", strerror(error));
    } else if (program_wait_group(pid, &status) == WAIT_STOPPED) {
        assay_error("interrupted");
        end = BUILD_STOPPED;
    } else {
        ssize_t got = read(output[0], path, PATH_MAX - 1);
        path[got > 0 ? got : 0] = '\0';
        path[strcspn(path, "\n")] = '\0';
        *code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        end = BUILD_DONE;
    }
    close(output[0]);
    return end;
}

static enum build_end of_revision(const char *word, const char *make, char path[PATH_MAX])
{
    struct program_file file;
    int code = 1;
    enum build_end end = run_script(word, make, path, &code);
    if (end != BUILD_DONE || (code == 0 && path[0])) return end;
    if (code == NO_REVISION && !strchr(word, '/') && program_find(word, &file) == 0) {
        snprintf(path, PATH_MAX, "%s", file.path);
        return BUILD_DONE;
    }
    if (code == NO_REVISION)
        assay_error("'%s' is neither a program nor a revision of a git repository here", word);
    else
        assay_error("the revision %s does not build", word);
    return BUILD_FAILED;
}

enum build_end program_of(const char *word, const char *make, char path[PATH_MAX])
{
    struct stat about;
    if (!word[0]) return assay_error_as(BUILD_FAILED, "'' is no program");
    if (stat(word, &about) != 0 || S_ISDIR(about.st_mode)) return of_revision(word, make, path);
    snprintf(path, PATH_MAX, "%s%s", strchr(word, '/') ? "" : "./", word);
    return BUILD_DONE;
}

int program_same(const char *path, const char *other)
{
    char a[1 << 14], b[1 << 14];
    size_t got = 0, had = 0;
    FILE *file = fopen(path, "re"), *beside = fopen(other, "re");
    int same = file && beside;
    do {
        if (!same) break;
        got = fread(a, 1, sizeof a, file);
        had = fread(b, 1, sizeof b, beside);
        same = got == had && memcmp(a, b, got) == 0;
    } while (got == sizeof a);
    if (file) fclose(file);
    if (beside) fclose(beside);
    return same;
}
