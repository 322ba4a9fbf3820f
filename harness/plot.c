/* plot.c - runs gnuplot; nothing else does. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "datadir.h"
#include "plot.h"

extern char **environ;

const struct plot_kind plot_kinds[] = {
    {"sweep", "throughput against size; time by variant when there is one size", plot_sweep},
    {0},
};

/* gnuplot takes quotes for its own and a leading # for a comment, and has no
 * escape for either, so they are replaced by their look-alikes. */
void plot_text(FILE *out, const char *text)
{
    if (*text == '#') fputs("\xef\xbc\x83", out), text++; /* U+FF03 */
    for (; *text; text++) {
        if (*text == '"')
            fputs("\xe2\x80\x9d", out); /* U+201D */
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

/* ------------------------------------------------------------------ files -- */

struct files {
    char folder[PATH_MAX]; /* of ours, removed at the end; "" when the files are kept */
    char data[PATH_MAX];
    char script[PATH_MAX]; /* the one that is run */
};

/* OUTPUT with its ending replaced. */
static int beside(char out[PATH_MAX], const char *output, const char *ending)
{
    const char *dot = strrchr(output, '.');
    int length = snprintf(out, PATH_MAX, "%.*s%s", (int)(dot - output), output, ending);
    return length < PATH_MAX ? 0 : assay_error("the name of the output is too long");
}

static int copy_file(const char *from, const char *to)
{
    char buffer[4096];
    size_t count;
    FILE *in = fopen(from, "r"), *out = in ? fopen(to, "w") : NULL;
    while (out && (count = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, count, out);
    bool failed = !out || ferror(in) || ferror(out);
    if (in) fclose(in);
    if (out && fclose(out)) failed = true;
    return failed ? assay_error("cannot copy %s to %s: %s", from, to, strerror(errno)) : 0;
}

static int files_choose(struct files *files, const char *script, const struct plot_options *options)
{
    char found[PATH_MAX];
    files->folder[0] = '\0';
    if (datadir_find("plots", script, found, sizeof found)) return -1;
    if (options->keep_script) {
        if (beside(files->data, options->output, ".tsv")) return -1;
        if (beside(files->script, options->output, ".gp")) return -1;
        return copy_file(found, files->script);
    }
    const char *tmp = getenv("TMPDIR");
    snprintf(files->folder, 256, "%s/assay-plot-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    if (!mkdtemp(files->folder)) {
        int failed = assay_error("cannot make the folder %s: %s", files->folder, strerror(errno));
        files->folder[0] = '\0';
        return failed;
    }
    snprintf(files->data, sizeof files->data, "%.256s/data.tsv", files->folder);
    memcpy(files->script, found, sizeof found);
    return 0;
}

static void files_remove(const struct files *files)
{
    if (!files->folder[0]) return;
    unlink(files->data);
    rmdir(files->folder);
}

static int data_write(const char *path, int (*write)(FILE *, const void *), const void *context)
{
    FILE *out = fopen(path, "w");
    if (!out) return assay_error("cannot write %s: %s", path, strerror(errno));
    int failed = write(out, context);
    bool broken = ferror(out);
    if (fclose(out) || broken) failed = assay_error("cannot write %s: %s", path, strerror(errno));
    return failed;
}

/* ---------------------------------------------------------------- gnuplot -- */

/* All that can be read, as one line; what does not fit is dropped. */
static void read_line(int from, char *out, size_t size)
{
    size_t used = 0;
    char buffer[1024];
    ssize_t count;
    while ((count = read(from, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR))
        for (ssize_t i = 0; i < count && used + 1 < size; i++) {
            char c = (unsigned char)buffer[i] < ' ' ? ' ' : buffer[i];
            if (c != ' ' || (used && out[used - 1] != ' ')) out[used++] = c;
        }
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

/* Start gnuplot without a shell, with `errors` as its standard error; an errno. */
static int spawn(pid_t *child, char *const argv[], int errors)
{
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed) return failed;
    failed = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed =
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!failed) failed = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static int gnuplot(const struct files *files, const char *output)
{
    char *const argv[] = {"gnuplot",           "-c",           (char *)files->script,
                          (char *)files->data, (char *)output, NULL};
    char said[1024];
    int ends[2], status;
    pid_t child;
    if (pipe2(ends, O_CLOEXEC)) return assay_error("cannot make a pipe: %s", strerror(errno));
    int failed = spawn(&child, argv, ends[1]);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        if (failed != ENOENT) return assay_error("cannot start gnuplot: %s", strerror(failed));
        return assay_error("gnuplot is not installed: apt-get install gnuplot-nox");
    }
    read_line(ends[0], said, sizeof said);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return assay_error("cannot wait for gnuplot: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    if (WIFSIGNALED(status)) return assay_error("gnuplot died of signal %d", WTERMSIG(status));
    return assay_error("gnuplot failed: %s", said[0] ? said : "it did not say why");
}

static bool has_known_ending(const char *output)
{
    static const char *const endings[] = {".svg", ".png", ".pdf"};
    const char *dot = strrchr(output, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof endings[0]; i++)
        if (!strcmp(dot, endings[i])) return true;
    return false;
}

/* gnuplot would stop half way through, with a line number of the script. */
static int output_check(const char *output)
{
    if (!has_known_ending(output))
        return assay_error("'%s' should end in .svg, .png or .pdf", output);
    FILE *out = fopen(output, "a");
    if (!out) return assay_error("cannot write %s: %s", output, strerror(errno));
    fclose(out);
    return 0;
}

/* What output_check made and gnuplot did not fill. */
static void remove_if_empty(const char *output)
{
    struct stat status;
    if (!stat(output, &status) && S_ISREG(status.st_mode) && status.st_size == 0) unlink(output);
}

int plot_draw(const char *script, int (*write)(FILE *out, const void *context), const void *context,
              const struct plot_options *options)
{
    struct files files;
    if (output_check(options->output)) return -1;
    int failed = files_choose(&files, script, options);
    if (!failed) failed = data_write(files.data, write, context);
    if (!failed) failed = gnuplot(&files, options->output);
    files_remove(&files);
    if (failed) remove_if_empty(options->output);
    return failed;
}
