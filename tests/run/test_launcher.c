/* test_launcher.c - what the environment of a launcher says of a process. */
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "run/launcher.h"

/* "NAME=VALUE" texts, ended by NULL. */
static const char *const *environment;

static char *get(const char *name)
{
    size_t length = strlen(name);
    for (const char *const *at = environment; *at; at++)
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
            return (char *)*at + length + 1;
    return NULL;
}

#define FIND(rank, ...)                                                                            \
    (environment = (const char *const[]){__VA_ARGS__, NULL}, launcher_find(rank, get))

static void expect(const struct rank *rank, int index, int count, int local, const char *job)
{
    assert_int_equal(rank->index, index);
    assert_int_equal(rank->count, count);
    assert_int_equal(rank->local, local);
    assert_string_equal(rank->job, job);
}

TEST(without_a_launcher_a_process_is_alone)
{
    struct rank rank;
    assert_int_equal(FIND(&rank, "HOME=/root", "SLURM_ARRAY_TASK_ID="), 0);
    expect(&rank, 0, 1, -1, "");
    assert_string_equal(rank.how, "");
}

TEST(each_launcher_says_rank_and_count)
{
    struct rank rank;
    FIND(&rank, "SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=8", "SLURM_LOCALID=1", "SLURM_JOB_ID=77",
         "SLURM_STEP_ID=0", "SLURM_NTASKS=99");
    expect(&rank, 5, 8, 1, "slurm-77.0");
    assert_string_equal(rank.how, "rank 5 of 8 of Slurm");
    FIND(&rank, "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_RANK=1",
         "OMPI_MCA_orte_precondition_transports=a-b");
    expect(&rank, 1, 2, 1, "mpi-a-b");
    FIND(&rank, "PMI_RANK=3", "PMI_SIZE=4", "MPI_LOCALRANKID=0");
    expect(&rank, 3, 4, 0, "");
    FIND(&rank, "SLURM_ARRAY_TASK_ID=13", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MIN=9",
         "SLURM_ARRAY_TASK_MAX=13", "SLURM_ARRAY_TASK_STEP=2", "SLURM_ARRAY_JOB_ID=70");
    expect(&rank, 2, 3, -1, "slurm-70");
    FIND(&rank, "PBS_ARRAY_INDEX=8", "PBS_JOBID=12[8].server", "ASSAY_SHARDS=8");
    expect(&rank, 7, 8, -1, "pbs-12");
    FIND(&rank, "JOB_COMPLETION_INDEX=0", "ASSAY_SHARDS=8", "ASSAY_JOB=nightly 3");
    expect(&rank, 0, 8, -1, "nightly 3");
}

/* The script of a Slurm job is none of several processes, though it has a SLURM_PROCID. */
TEST(a_batch_script_is_alone)
{
    struct rank rank;
    assert_int_equal(FIND(&rank, "SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_JOB_ID=77"), 0);
    expect(&rank, 0, 1, -1, "");
}

TEST(under_mpirun_in_slurm_the_ranks_are_those_of_mpirun)
{
    struct rank rank;
    FIND(&rank, "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_LOCALID=0", "SLURM_JOB_ID=77",
         "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_LOCAL_RANK=3",
         "PMIX_NAMESPACE=prterun-n1-7@1");
    expect(&rank, 3, 8, 3, "mpi-prterun-n1-7@1");
}

TEST(the_ranks_of_each_array_task_divide_its_part)
{
    struct rank rank;
    FIND(&rank, "SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MAX=2",
         "SLURM_ARRAY_JOB_ID=70", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=4", "SLURM_LOCALID=1",
         "SLURM_JOB_ID=72", "SLURM_STEP_ID=0");
    expect(&rank, 5, 12, 1, "slurm-70");
    assert_string_equal(rank.how, "array task 1 of 3 of Slurm, rank 1 of 4 of Slurm");
}

TEST(what_cannot_be_is_refused)
{
    static const struct {
        const char *environment[6], *words;
    } cases[] = {
        {{"SLURM_PROCID=x", "SLURM_STEP_NUM_TASKS=8"}, "SLURM_PROCID=x: that is no number"},
        {{"SLURM_PROCID=-1", "SLURM_STEP_NUM_TASKS=8"}, "SLURM_PROCID=-1"},
        {{"SLURM_PROCID=8", "SLURM_STEP_NUM_TASKS=8"}, "SLURM_PROCID=8 is none of 8"},
        {{"PMI_RANK=0", "PMI_SIZE=0"}, "not of how many"},
        {{"PMI_RANK=0", "PMI_SIZE=99999999999"}, "PMI_SIZE=99999999999"},
        {{"JOB_COMPLETION_INDEX=3"}, "ASSAY_SHARDS=N in the environment"},
        {{"PBS_ARRAY_INDEX=0", "ASSAY_SHARDS=4"}, "PBS_ARRAY_INDEX=0 is none of 4"},
        {{"PBS_ARRAY_INDEX=1", "ASSAY_SHARDS=many"}, "ASSAY_SHARDS=many"},
        /* --array=1,5,6 */
        {{"SLURM_ARRAY_TASK_ID=5", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MIN=1",
          "SLURM_ARRAY_TASK_MAX=6", "SLURM_ARRAY_TASK_STEP=1"},
         "SLURM_ARRAY_TASK_ID=5 is none of 3 evenly spaced numbers from 1"},
        {{"SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_STEP=0"},
         "evenly"},
        {{"SLURM_ARRAY_TASK_ID=0", "SLURM_ARRAY_TASK_COUNT=900000", "SLURM_PROCID=0",
          "SLURM_STEP_NUM_TASKS=900000"},
         "more than 1000000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rank rank;
        environment = cases[i].environment;
        assert_int_equal(launcher_find(&rank, get), -1);
        if (!strstr(assay_last_error(), cases[i].words))
            fail_msg("'%s' is not in: %s", cases[i].words, assay_last_error());
    }
}
