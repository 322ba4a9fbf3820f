#include "run/launcher.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* An array job starts a script several times, and the script may start several ranks each time. */
enum level { LEVEL_ARRAY, LEVEL_RANK, LEVELS };

struct launcher {
    enum level level;
    const char *name, *index, *count; /* variables; no count: ASSAY_SHARDS */
    const char *first, *last, *step;  /* of the indices; NULL: from `base`, by 1 */
    int base;
    const char *local;
    const char *prefix; /* of the job's name, which is of those of `job` that are set */
    const char *job[2]; /* up to a '[', where the task's own number begins */
};

/* The first of each level that is there holds: mpirun starts a daemon per node by srun, and what
 * srun says there is about the daemons. */
static const struct launcher launchers[] = {
    {LEVEL_ARRAY, "Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
     .first = "SLURM_ARRAY_TASK_MIN", .last = "SLURM_ARRAY_TASK_MAX",
     .step = "SLURM_ARRAY_TASK_STEP", .prefix = "slurm-", .job = {"SLURM_ARRAY_JOB_ID"}},
    {LEVEL_ARRAY, "PBS", "PBS_ARRAY_INDEX", .base = 1, .prefix = "pbs-", .job = {"PBS_JOBID"}},
    {LEVEL_ARRAY, "Torque", "PBS_ARRAYID", .base = 1, .prefix = "pbs-", .job = {"PBS_JOBID"}},
    {LEVEL_ARRAY, "Kubernetes", "JOB_COMPLETION_INDEX"},
    {LEVEL_RANK, "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     .local = "OMPI_COMM_WORLD_LOCAL_RANK", .prefix = "mpi-",
     .job = {"OMPI_MCA_orte_precondition_transports", "PMIX_NAMESPACE"}},
    {LEVEL_RANK, "Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", .local = "SLURM_LOCALID",
     .prefix = "slurm-", .job = {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {LEVEL_RANK, "PMI", "PMI_RANK", "PMI_SIZE", .local = "MPI_LOCALRANKID", .prefix = "mpi-",
     .job = {"PALS_APID", "PMI_JOBID"}},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers, MOST_RANKS = 1000000 };

/* A set but empty variable says nothing. */
static const char *ask(char *(*get)(const char *), const char *name)
{
    const char *text = name ? get(name) : NULL;
    return text && *text ? text : NULL;
}

/* The number that a variable has, or `otherwise` where it is not there. */
static int number(char *(*get)(const char *), const char *name, int otherwise, int *value)
{
    const char *text = ask(get, name);
    char *end;
    *value = otherwise;
    if (!text) return 0;
    long long whole = strtoll(text, &end, 10);
    if (*end || whole < 0 || whole > INT_MAX)
        return assay_error("%s=%s: that is no number of a process (--shard I/N says which share "
                           "this is, --shard none that it is all)",
                           name, text);
    *value = (int)whole;
    return 0;
}

/* Its place among evenly spaced indices. */
static int place(const struct launcher *launcher, char *(*get)(const char *), int *index,
                 int *count)
{
    int first, last, step;
    if (number(get, launcher->index, 0, index) != 0 ||
        number(get, launcher->count ? launcher->count : "ASSAY_SHARDS", 0, count) != 0 ||
        number(get, launcher->first, launcher->base, &first) != 0 ||
        number(get, launcher->step, 1, &step) != 0 || number(get, launcher->last, -1, &last) != 0)
        return -1;
    if (*count < 1 || *count > MOST_RANKS)
        return assay_error("%s says that this is process %d and not of how many: --shard I/N, or "
                           "%s=N in the environment (--shard none measures all)",
                           launcher->name, *index,
                           launcher->count ? launcher->count : "ASSAY_SHARDS");
    int from_first = *index - first;
    bool even =
        step > 0 && from_first % step == 0 && (last < 0 || (last - first) / step + 1 == *count);
    if (!even || from_first < 0 || from_first / step >= *count)
        return assay_error("%s=%s is none of %d evenly spaced numbers from %d: --shard I/N says "
                           "which share it is",
                           launcher->index, get(launcher->index), *count, first);
    *index = from_first / step;
    return 0;
}

/* "slurm-1234.0" */
static void name_job(struct rank *rank, const struct launcher *launcher, char *(*get)(const char *))
{
    const char *given = ask(get, "ASSAY_JOB");
    if (rank->job[0]) return; /* the array's name is that of all its tasks */
    if (given) text_copy(rank->job, sizeof rank->job, given);
    for (int i = 0; i < 2 && !given; i++) {
        const char *id = ask(get, launcher->job[i]);
        if (!id) continue;
        text_add(rank->job, sizeof rank->job, ".", "%s%.*s", rank->job[0] ? "" : launcher->prefix,
                 (int)strcspn(id, "["), id);
    }
}

static int take(struct rank *rank, const struct launcher *launcher, char *(*get)(const char *))
{
    int index, count;
    if (place(launcher, get, &index, &count) != 0) return -1;
    if (number(get, launcher->local, -1, &rank->local) != 0) return -1;
    if ((long long)rank->count * count > MOST_RANKS)
        return assay_error("more than %d processes", MOST_RANKS);
    rank->index = rank->index * count + index;
    rank->count *= count;
    name_job(rank, launcher, get);
    text_add(rank->how, sizeof rank->how, ", ", "%s %d of %d of %s",
             launcher->level == LEVEL_ARRAY ? "array task" : "rank", index, count, launcher->name);
    return 0;
}

int launcher_find(struct rank *rank, char *(*get)(const char *name))
{
    *rank = (struct rank){.count = 1, .local = -1};
    bool found[LEVELS] = {false};
    for (int i = 0; i < LAUNCHERS; i++) {
        const struct launcher *launcher = &launchers[i];
        bool is_there = ask(get, launcher->index) &&
                        (launcher->level == LEVEL_ARRAY || ask(get, launcher->count));
        if (!is_there || found[launcher->level]) continue;
        found[launcher->level] = true;
        if (take(rank, launcher, get) != 0) return -1;
    }
    return 0;
}
