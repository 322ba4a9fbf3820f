#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/out_file.h"
#include "base/process.h"
#include "base/temp_folder.h"
#include "plot/plot_gnuplot.h"

static bool is_terminal(const char *output)
{
    return strcmp(output, "-") == 0;
}

/* The ending of a file name if it is one that can be drawn, else NULL. */
static const char *known_ending(const char *output)
{
    static const char *const endings[] = {".svg", ".png", ".pdf"};
    const char *dot = strrchr(output, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof endings[0]; i++)
        if (!strcmp(dot, endings[i])) return dot;
    return NULL;
}

static int beside(char out[PATH_MAX], const char *output, const char *ending)
{
    const char *dot = known_ending(output);
    int length = snprintf(out, PATH_MAX, "%.*s%s", (int)(dot - output), output, ending);
    return length < PATH_MAX ? 0 : assay_error("the name of the output is too long");
}

int gnuplot_output_check(const char *output)
{
    struct out_file file;
    if (is_terminal(output)) return 0;
    if (!known_ending(output))
        return assay_error("'%s' should end in .svg, .png or .pdf, or be - for the terminal",
                           output);
    if (out_file_replace(&file, output)) return -1;
    out_file_close(&file, -1);
    return 0;
}

struct files {
    struct temp_folder folder; /* of this process alone */
    char data[PATH_MAX], script[PATH_MAX];
    char picture[PATH_MAX]; /* gnuplot's output, in the folder; "-" the terminal */
};

/* Name the data and the script: beside the output, or in a new temporary folder, where gnuplot's
 * own files are in any case. */
static int files_choose(struct files *files, const struct plot_request *request)
{
    const char *name = request->output;
    char hidden[PATH_MAX];
    *files = (struct files){.picture = "-"};
    if (request->keep_script && is_terminal(name))
        return assay_error("--keep-script wants a file to put them beside: -o FILE.svg");
    if (temp_folder_make(&files->folder, "plot")) return -1;
    if (snprintf(hidden, sizeof hidden, "%s/plot%s", files->folder.path,
                 is_terminal(name) ? ".svg" : known_ending(name)) >= PATH_MAX)
        return assay_error("%s: the path is too long", files->folder.path);
    if (!is_terminal(name)) snprintf(files->picture, sizeof files->picture, "%s", hidden);
    if (!request->keep_script) name = hidden;
    return beside(files->data, name, ".tsv") || beside(files->script, name, ".gp") ? -1 : 0;
}

/* Append a script to `out`, with style.gp inserted where it is loaded, so that a kept script
 * works in any folder. */
static int script_append(FILE *out, const char *name)
{
    char path[PATH_MAX], line[1024];
    if (datadir_find("plots", name, path, sizeof path)) return -1;
    FILE *in = fopen(path, "r");
    if (!in) return assay_error("cannot read %s: %s", path, strerror(errno));
    int failed = 0;
    while (!failed && fgets(line, sizeof line, in)) {
        if (!strcmp(line, "load \"style.gp\"\n"))
            failed = script_append(out, "style.gp");
        else
            fputs(line, out);
    }
    if (!failed && ferror(in)) failed = assay_error("cannot read %s: %s", path, strerror(errno));
    fclose(in);
    return failed;
}

static int script_write(FILE *out, struct plot *plot)
{
    char name[64];
    snprintf(name, sizeof name, "%s.gp", plot->kind->name);
    return script_append(out, name);
}

static int file_write(const char *path, int (*write)(FILE *out, struct plot *plot),
                      struct plot *plot)
{
    struct out_file file;
    if (out_file_replace(&file, path)) return -1;
    return out_file_close(&file, write(file.stream, plot));
}

/* gnuplot may fail after a part of the picture, and would write through a link. */
static int picture_place(const struct files *files, const char *output)
{
    struct out_file file;
    if (is_terminal(output)) return 0;
    if (out_file_replace(&file, output)) return -1;
    return out_file_close(&file, out_file_append(&file, files->picture));
}

/* Read gnuplot's messages as one line, without warnings; runs of blanks and control characters
 * become one blank. */
static void read_said(FILE *from, char *out, size_t size)
{
    char line[1024];
    size_t used = 0;
    rewind(from);
    while (fgets(line, sizeof line, from)) {
        if (strstr(line, "warning: ")) continue;
        for (const char *c = line; *c && used + 1 < size; c++) {
            bool is_blank = (unsigned char)*c <= ' ';
            if (!is_blank || (used && out[used - 1] != ' ')) out[used++] = is_blank ? ' ' : *c;
        }
    }
    if (used && out[used - 1] == ' ') used--;
    out[used] = '\0';
}

/* What gnuplot drew for the terminal goes through the stream of this process, whose end says
 * whether all of it was written. */
static int show_drawn(FILE *from)
{
    char piece[4096];
    size_t got;
    rewind(from);
    while ((got = fread(piece, 1, sizeof piece, from)) > 0)
        fwrite(piece, 1, got, stdout);
    return ferror(from) ? assay_error("cannot read what gnuplot drew: %s", strerror(errno)) : 0;
}

/* -d: ignore the user's .gnuplot file. */
static int gnuplot(const struct files *files, int columns)
{
    char wide[16], said[1024];
    const char *const argv[] = {"gnuplot",   "-d",           "-c", files->script,
                                files->data, files->picture, wide, NULL};
    int status, failed = 0, null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t child;
    FILE *errors = tmpfile(), *drawn = errors ? tmpfile() : NULL;
    if (!drawn) {
        failed = assay_error("cannot make a file for gnuplot: %s", strerror(errno));
        goto out;
    }
    snprintf(wide, sizeof wide, "%d", columns > 0 ? columns : 100);
    const struct process_file streams[] = {
        {fileno(errors), STDERR_FILENO}, {null, STDIN_FILENO}, {fileno(drawn), STDOUT_FILENO}};
    const struct process_start start = {
        .program = argv[0], .argv = argv, .files = streams, .file_count = 3};
    int problem = null < 0 ? errno : process_start(&start, &child);
    if (problem == ENOENT)
        failed = assay_error("gnuplot is not installed: apt-get install gnuplot-nox");
    else if (problem)
        failed = assay_error("cannot start gnuplot: %s", strerror(problem));
    while (!failed && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) failed = assay_error("cannot wait for gnuplot: %s", strerror(errno));
    if (failed) goto out;
    read_said(errors, said, sizeof said);
    if (WIFSIGNALED(status))
        failed = assay_error("gnuplot died of signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        failed = assay_error("gnuplot failed: %s", said[0] ? said : "it did not say why");
    else if (is_terminal(files->picture))
        failed = show_drawn(drawn);
out:
    if (errors) fclose(errors);
    if (drawn) fclose(drawn);
    if (null >= 0) close(null);
    return failed;
}

int gnuplot_draw(struct plot *plot)
{
    struct files files;
    const struct plot_request *request = plot->request;
    int failed = files_choose(&files, request);
    if (!failed) failed = file_write(files.data, plot_write, plot);
    if (!failed) failed = file_write(files.script, script_write, plot);
    if (!failed) failed = gnuplot(&files, request->columns);
    if (!failed) failed = picture_place(&files, request->output);
    temp_folder_remove(&files.folder);
    return failed;
}

bool gnuplot_version(char *out, size_t size)
{
    FILE *answer = popen("gnuplot --version 2>/dev/null", "r");
    bool said = answer && fgets(out, (int)size, answer);
    if (answer && pclose(answer) != 0) said = false;
    if (said) out[strcspn(out, "\n")] = '\0';
    return said;
}
