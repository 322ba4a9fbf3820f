#include "gate/program_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/process.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "gate/program_wait.h"
#include "object/object.h"
#include "run/interrupt.h"
#include "show/view.h"
#include "store/store.h"
#include "store/store_gate.h"

enum { MOST_ARGUMENTS = 32 + 2 * OBJECTS_MOST, WATCH_MS = 500 };

struct scratch {
    struct temp_folder folder;
    char database[PATH_MAX], log[PATH_MAX], prints[PATH_MAX];
};

enum request { ASK_TIMES, ASK_PLAN, ASK_PRINTS };

static int scratch_make(struct scratch *scratch)
{
    if (temp_folder_make(&scratch->folder, "launch") != 0) return -1;
    int database = snprintf(scratch->database, sizeof scratch->database, "%s/run.sqlite",
                            scratch->folder.path);
    int prints =
        snprintf(scratch->prints, sizeof scratch->prints, "%s/prints", scratch->folder.path);
    snprintf(scratch->log, sizeof scratch->log, "%s/log", scratch->folder.path);
    if (database < (int)sizeof scratch->database && prints < (int)sizeof scratch->prints) return 0;
    assay_error("%s: the path is too long", scratch->folder.path);
    temp_folder_remove(&scratch->folder);
    return -1;
}

/* -------------------------------------------------------------- program -- */

/* 0, or the errno with which it would not start. */
static int obstacle_of(struct program_file *file)
{
    if (stat(file->path, &file->about) != 0) return errno;
    if (!S_ISREG(file->about.st_mode)) return EACCES;
    return access(file->path, X_OK) == 0 ? 0 : errno;
}

/* As posix_spawnp looks for it: a name without a slash in the folders of PATH. */
int program_find(const char *program, struct program_file *file)
{
    const char *folders = getenv("PATH");
    int obstacle = ENOENT;
    if (strchr(program, '/')) {
        snprintf(file->path, sizeof file->path, "%s", program);
        obstacle = obstacle_of(file);
        folders = NULL;
    }
    while (folders && obstacle != 0) {
        size_t length = strcspn(folders, ":");
        snprintf(file->path, sizeof file->path, "%.*s/%s", length ? (int)length : 1,
                 length ? folders : ".", program);
        int here = obstacle_of(file);
        if (here != ENOENT && here != ENOTDIR) obstacle = here;
        folders = folders[length] ? folders + length + 1 : NULL;
    }
    if (obstacle == 0) return 0;
    bool is_here = !strchr(program, '/') && access(program, X_OK) == 0;
    return is_here ? assay_error("%s is not on the PATH (did you mean './%s'?)", program, program)
                   : assay_error("%s: cannot be started: %s", program, strerror(obstacle));
}

int program_unchanged(const struct program_file *file)
{
    struct stat now;
    const struct stat *then = &file->about;
    if (stat(file->path, &now) == 0 && now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
        now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == then->st_mtim.tv_nsec)
        return 0;
    return assay_error("%s: the file changed between launches, so they are of two programs",
                       file->path);
}

/* ---------------------------------------------------------------- child -- */

static void arguments(const struct program_call *call, const struct scratch *scratch,
                      const char *seed, enum request request, const char **argv)
{
    const char *const pairs[][2] = {
        {"--db", scratch->database},
        {"--device", call->device},
        {"--seed", seed},
        {"--label", call->label},
        {"--filter", call->filter},
        {"--budget", call->budget},
        {"--format", "json"},
        {"--precision", call->precision},
        {"--twin", call->twin},
        {"--twin-floor", call->twin_floor},
        {"--fingerprint", request == ASK_PRINTS ? scratch->prints : NULL},
        {"--counters", call->counters},
    };
    int count = 0;
    argv[count++] = call->program;
    argv[count++] = call->counters ? "profile" : "run";
    argv[count++] = call->suite;
    if (!call->counters || !call->times_too)
        argv[count++] = call->counters ? "--no-times" : "--no-ceilings";
    if (!call->counters) {
        /* The whole suite, also where the gate is one process of a job (run/launcher.h). */
        argv[count++] = "--shard";
        argv[count++] = "1/1";
    }
    if (request == ASK_PLAN) argv[count++] = "--dry-run";
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (!pairs[i][1]) continue;
        argv[count++] = pairs[i][0];
        argv[count++] = pairs[i][1];
    }
    if (call->allow_load) argv[count++] = "--allow-load";
    for (int i = 0; call->objects && call->objects[i]; i++) {
        argv[count++] = "--load";
        argv[count++] = call->objects[i];
    }
    argv[count] = NULL;
}

static int open_plan(const struct scratch *scratch)
{
    char path[PATH_MAX];
    bool fits = snprintf(path, sizeof path, "%s/plan", scratch->folder.path) < PATH_MAX;
    return fits ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
}

/* Standard output is of no use here but for a plan: the database has it all. */
static int spawn(const struct program_call *call, const struct scratch *scratch,
                 enum request request, pid_t *pid)
{
    const char *argv[MOST_ARGUMENTS];
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)call->seed);
    arguments(call, scratch, seed, request, argv);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int log = open(scratch->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int plan = request == ASK_PLAN ? open_plan(scratch) : nothing;
    const struct process_file files[] = {
        {nothing, STDIN_FILENO}, {plan, STDOUT_FILENO}, {log, STDERR_FILENO}};
    const struct process_start start = {
        .program = call->program, .argv = argv, .files = files, .file_count = 3};
    int error = nothing < 0 || log < 0 || plan < 0 ? errno : process_start(&start, pid);
    if (plan >= 0 && plan != nothing) close(plan);
    if (nothing >= 0) close(nothing);
    if (log >= 0) close(log);
    return error ? assay_error("%s: cannot be started: %s", call->program, strerror(error)) : 0;
}

/* Why it may have said nothing: a disk that is full takes no log either. "": it could. */
static void why_silent(const struct scratch *scratch, char *out, size_t size)
{
    int log = open(scratch->log, O_WRONLY | O_APPEND | O_CLOEXEC);
    out[0] = '\0';
    if (log >= 0 && write(log, "\n", 1) < 0)
        snprintf(out, size, "%s (TMPDIR) cannot be written: %s", scratch->folder.path,
                 strerror(errno));
    if (log >= 0) close(log);
}

/* The last line that it wrote to standard error, cut at the size, or why there is none; "" where
 * that is not known. */
static void last_words(const struct scratch *scratch, char *out, size_t size)
{
    char line[512];
    bool begins = true; /* else it goes on with one that is longer */
    FILE *file = fopen(scratch->log, "r");
    out[0] = '\0';
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        size_t length = strcspn(line, "\n");
        bool ends = line[length] == '\n';
        line[length] = '\0';
        if (begins && line[0]) text_printable(out, size, line, "");
        begins = ends;
    }
    fclose(file);
    if (!out[0]) why_silent(scratch, out, size);
}

/* ---------------------------------------------------------------- result -- */

static enum launch_end judge_end(const struct program_call *call, const struct scratch *scratch,
                                 int status)
{
    char words[256];
    last_words(scratch, words, sizeof words);
    const char *colon = words[0] ? ": " : "";
    if (WIFSIGNALED(status))
        return assay_error_as(LAUNCH_DIED, "%s died: signal %d, %s%s%s", call->program,
                              WTERMSIG(status), strsignal(WTERMSIG(status)), colon, words);
    int code = WEXITSTATUS(status);
    bool known =
        code == EXIT_FINE || code == EXIT_REGRESSED || code == EXIT_NOTHING || code == EXIT_LOST;
    if (!known)
        return assay_error_as(LAUNCH_REFUSED, "%s ended with %d%s%s", call->program, code, colon,
                              words);
    if (access(scratch->database, F_OK) != 0)
        return assay_error_as(LAUNCH_REFUSED,
                              "%s stored nothing: is it an assay? It ended with %d%s%s",
                              call->program, code, colon, words);
    return LAUNCH_DONE;
}

static int find_run(const char *database, const char *label, char id[STORE_ID])
{
    struct store *store;
    if (store_open(&store, database, STORE_READ) != 0) return -1;
    int found = store_find_label(store, label, id);
    if (found == 0) assay_error("%s: no run of it is labelled '%s'", database, label);
    store_close(store);
    return found == 1 ? 0 : -1;
}

/* Whether an exit code other than 0 is about rows that are there to be judged. What else failed
 * is not known, so rows that look clean beside it are no evidence. */
static enum launch_end explain_end(const struct program_call *call, int code, struct store *store,
                                   const char *id)
{
    struct stored_run run;
    if (code == EXIT_FINE) return LAUNCH_DONE;
    if (store_read_run(store, id, false, &run) != 0) return LAUNCH_FAILED;
    bool clean = view_exit_code(&run) == EXIT_FINE;
    stored_run_release(&run);
    if (!clean) return LAUNCH_DONE;
    return assay_error_as(LAUNCH_DIED, "%s ended with %d, and what it stored does not say why",
                          call->program, code);
}

static enum launch_end take_over(const struct program_call *call, const struct scratch *scratch,
                                 int code, struct store *store, struct timings *timings)
{
    char id[STORE_ID];
    if (find_run(scratch->database, call->label, id) != 0) {
        char why[512];
        size_t path = strlen(scratch->database); /* of no use to anybody */
        snprintf(why, sizeof why, "%s", assay_last_error());
        bool named = strncmp(why, scratch->database, path) == 0;
        return assay_error_as(LAUNCH_REFUSED, "%s: what it stored cannot be read: %s%s",
                              call->program, named ? "its database" : "", named ? why + path : why);
    }
    if (store_take_run(store, scratch->database, id) != 0) return LAUNCH_FAILED;
    enum launch_end end = explain_end(call, code, store, id);
    if (end != LAUNCH_DONE) return end;
    if (store_read_timings(store, id, timings) != 0) return LAUNCH_FAILED;
    int launches = timings->run.launch_count;
    if (timings->count > 0 && launches == 1) return LAUNCH_DONE;
    timings_release(timings);
    if (launches > 1) { /* the rounds behind it would be paired with others */
        return assay_error_as(LAUNCH_REFUSED, "%s stored %d launches, where it was asked for one",
                              call->program, launches);
    }
    return assay_error_as(LAUNCH_EMPTY, "%s measured nothing of the suite %s", call->program,
                          call->suite);
}

/* What is not there yet, or cannot be read now, is looked at the next time. */
static bool goes_on(const struct program_call *call, const struct scratch *scratch)
{
    struct store *store;
    char id[STORE_ID];
    bool on = true;
    if (access(scratch->database, F_OK) != 0 ||
        store_open(&store, scratch->database, STORE_READ) != 0)
        return true;
    if (store_find_label(store, call->label, id) == 1) on = call->watch(call->about, store, id);
    store_close(store);
    return on;
}

/* *enough: its watch ended it. */
static enum wait_end wait_for(const struct program_call *call, const struct scratch *scratch,
                              pid_t pid, int *status, bool *enough)
{
    long left_ms = 1000L * call->timeout_s;
    enum wait_end end = WAIT_OVER;
    *enough = false;
    if (!call->watch) return program_wait(pid, left_ms, status);
    for (; left_ms > 0 && end == WAIT_OVER && !*enough; left_ms -= WATCH_MS) {
        end = program_wait(pid, left_ms < WATCH_MS ? left_ms : WATCH_MS, status);
        *enough = end == WAIT_OVER && !goes_on(call, scratch);
    }
    return end;
}

/* To its end; *code is its exit code. */
static enum launch_end await(const struct program_call *call, const struct scratch *scratch,
                             pid_t pid, int *code)
{
    int status;
    bool enough;
    enum wait_end end_of_wait = wait_for(call, scratch, pid, &status, &enough);
    if (end_of_wait != WAIT_ENDED) program_stop(pid);
    if (enough) {
        *code = EXIT_FINE;
        return LAUNCH_DONE;
    }
    if (end_of_wait == WAIT_STOPPED) return assay_error_as(LAUNCH_STOPPED, "interrupted");
    if (end_of_wait == WAIT_OVER)
        return assay_error_as(LAUNCH_DIED, "%s was still running after %d s (--timeout)",
                              call->program, call->timeout_s);
    *code = WEXITSTATUS(status);
    return judge_end(call, scratch, status);
}

/* Its run stays where it is: nothing of it was measured. */
static int read_prints(const struct program_call *call, const struct scratch *scratch,
                       struct fingerprints *prints, struct timings *pass)
{
    struct store *store;
    char id[STORE_ID];
    if (find_run(scratch->database, call->label, id) != 0 ||
        store_open(&store, scratch->database, STORE_READ) != 0)
        return -1;
    int status = store_read_timings(store, id, pass);
    store_close(store);
    if (status != 0) return -1;
    status = fingerprints_read(prints, scratch->prints);
    if (status != 0) timings_release(pass);
    return status;
}

/* A program that was started. */
struct pass {
    struct scratch scratch;
    pid_t pid;
};

static enum launch_end pass_begin(struct pass *pass, const struct program_call *call,
                                  enum request request)
{
    interrupt_catch();
    if (scratch_make(&pass->scratch) != 0) return LAUNCH_FAILED;
    if (spawn(call, &pass->scratch, request, &pass->pid) == 0) return LAUNCH_DONE;
    temp_folder_remove(&pass->scratch.folder);
    return LAUNCH_REFUSED;
}

static enum launch_end pass_end(const struct pass *pass, const struct program_call *call,
                                struct fingerprints *prints, struct timings *about)
{
    int code;
    enum launch_end end = await(call, &pass->scratch, pass->pid, &code);
    if (end != LAUNCH_DONE) return end;
    return read_prints(call, &pass->scratch, prints, about) == 0 ? LAUNCH_DONE : LAUNCH_REFUSED;
}

enum launch_end program_fingerprints(const struct program_call *calls, int count,
                                     struct fingerprints *prints, struct timings *about)
{
    struct pass passes[PASSES_MOST];
    enum launch_end end = LAUNCH_DONE;
    int begun = 0, read = 0;
    for (; begun < count && end == LAUNCH_DONE; begun += end == LAUNCH_DONE)
        end = pass_begin(&passes[begun], &calls[begun], ASK_PRINTS);
    for (int i = 0; i < begun; i++) {
        if (end != LAUNCH_DONE)
            program_stop(passes[i].pid);
        else if ((end = pass_end(&passes[i], &calls[i], &prints[i], &about[i])) == LAUNCH_DONE)
            read++;
        temp_folder_remove(&passes[i].scratch.folder);
    }
    for (int i = 0; i < read && end != LAUNCH_DONE; i++) {
        fingerprints_release(&prints[i]);
        timings_release(&about[i]);
    }
    return end;
}

static char *read_plan(const struct scratch *scratch)
{
    char path[PATH_MAX], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/plan", scratch->folder.path);
    FILE *file = fopen(path, "re");
    if (!file) return NULL;
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

bool program_plans(const struct program_call *call, char **plan)
{
    struct pass pass;
    char words[256];
    int status = 0;
    if (plan) *plan = NULL;
    if (pass_begin(&pass, call, ASK_PLAN) != LAUNCH_DONE) return false;
    bool ended = program_wait(pass.pid, 1000L * call->timeout_s, &status) == WAIT_ENDED;
    if (!ended) program_stop(pass.pid);
    bool fine = ended && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FINE;
    if (plan && fine) *plan = read_plan(&pass.scratch);
    last_words(&pass.scratch, words, sizeof words);
    if (!fine)
        assay_error("%s would measure nothing%s%s", call->program, words[0] ? ": " : "", words);
    temp_folder_remove(&pass.scratch.folder);
    return fine;
}

enum launch_end program_launch(const struct program_call *call, struct store *store,
                               struct timings *timings)
{
    struct pass pass;
    int code;
    memset(timings, 0, sizeof *timings);
    enum launch_end end = pass_begin(&pass, call, ASK_TIMES);
    if (end != LAUNCH_DONE) return end;
    end = await(call, &pass.scratch, pass.pid, &code);
    if (end == LAUNCH_DONE) end = take_over(call, &pass.scratch, code, store, timings);
    temp_folder_remove(&pass.scratch.folder);
    return end;
}
