/* test_store_shard.c - the shares of a job: which are missing, and what divides a suite. */
#include "store/store_shard.h"
#include "tests/store_fixture.h"

/* A run that is one share, begun; its id is in the result. */
static struct run_info begin_share(struct store *store, const char *job, int index, int count,
                                   const char *cut)
{
    struct run_info run = {.suite = "smoke", .command = "assay run smoke", .suite_text = ""};
    run.shard = (struct shard){.index = index, .count = count};
    snprintf(run.shard.group, sizeof run.shard.group, "%s", job);
    snprintf(run.shard.cut, sizeof run.shard.cut, "%s", cut);
    FINE(store_begin_run(store, &run, &fixture_program, &fixture_host));
    return run;
}

static void add_share(struct store *store, const char *job, int index, int count)
{
    struct run_info run = begin_share(store, job, index, count, "cut");
    FINE(store_end_run(store, run.id, "complete"));
}

struct seen {
    int jobs;
    struct shard_job job[4];
};

static int keep_job(const struct shard_job *job, void *context)
{
    struct seen *seen = context;
    assert_in_range(seen->jobs, 0, 3);
    seen->job[seen->jobs++] = *job;
    return 0;
}

static struct seen look(struct store *store)
{
    struct seen seen = {0};
    FINE(store_each_shard_job(store, keep_job, &seen));
    return seen;
}

OPEN_STORE_TEST(a_job_with_all_its_shares_lacks_nothing)
{
    assert_int_equal(look(store).jobs, 0);
    for (int i = 3; i >= 1; i--)
        add_share(store, "slurm-1.0", i, 3);
    struct seen seen = look(store);
    assert_int_equal(seen.jobs, 1);
    assert_string_equal(seen.job[0].group, "slurm-1.0");
    assert_string_equal(seen.job[0].suite, "smoke");
    assert_int_equal(seen.job[0].count, 3);
    assert_int_equal(seen.job[0].missing, 0);
    assert_int_equal(seen.job[0].apart, 0);
    assert_string_equal(seen.job[0].text, "");
}

OPEN_STORE_TEST(missing_shares_are_named)
{
    add_share(store, "one", 2, 3);
    add_share(store, "many", 4, 9);
    add_share(store, "many", 8, 9);
    begin_share(store, "many", 5, 9, "cut"); /* was killed */
    begin_share(store, "many", 8, 9, "cut"); /* so was this, and measured again */
    FINE(store_exec(store, "test",
                    "UPDATE run SET started_at = '2026-11-23' WHERE shard_group = 'one'"));
    struct seen seen = look(store);
    assert_int_equal(seen.jobs, 2);
    assert_string_equal(seen.job[0].text, "shares 1, 3 of 3 of one are missing (suite smoke)");
    assert_string_equal(seen.job[1].text,
                        "shares 1-3, 5-7, 9 of 9 of many are missing (suite smoke)");
    assert_int_equal(seen.job[1].missing, 7);
}

OPEN_STORE_TEST(the_last_share_alone_is_missing)
{
    add_share(store, "", 1, 2);
    assert_string_equal(look(store).job[0].text,
                        "share 2 of 2 of a job without a name is missing (suite smoke)");
}

OPEN_STORE_TEST(jobs_suites_labels_and_counts_are_told_apart)
{
    add_share(store, "j", 1, 2);
    add_share(store, "k", 2, 2);
    add_share(store, "j", 2, 3);
    struct seen seen = look(store);
    assert_int_equal(seen.jobs, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(seen.job[i].missing, seen.job[i].count - 1);
    FINE(store_exec(store, "test", "UPDATE run SET shard_group = 'j', shard_count = 2"));
    assert_int_equal(look(store).jobs, 1);
    FINE(store_exec(store, "test", "UPDATE run SET label = id"));
    assert_int_equal(look(store).jobs, 3);
}

OPEN_STORE_TEST(shares_of_different_plans_do_not_fit)
{
    add_share(store, "j", 1, 2);
    struct run_info other = begin_share(store, "j", 2, 2, "another cut");
    FINE(store_end_run(store, other.id, "complete"));
    struct seen seen = look(store);
    assert_int_equal(seen.job[0].missing, 0);
    assert_int_equal(seen.job[0].apart, 1);
    assert_non_null(strstr(seen.job[0].text, "do not fit together"));
    FAILS(store_check_shard(store, &(struct shard){1, 2, "j", "cut"}, false),
          "was cut from another plan than share 2");
    FINE(store_check_shard(store, &(struct shard){1, 2, "", "cut"}, true));
}

OPEN_STORE_TEST(a_share_of_the_same_job_is_not_written_where_another_one_is)
{
    const struct shard second = {2, 3, "j", "cut"};
    struct run_info first = begin_share(store, "j", 1, 3, "cut");
    FAILS(store_check_shard(store, &second, true), "share 1 of j is being written to it");
    FINE(store_check_shard(store, &second, false)); /* what it left out is measured later */
    FINE(store_check_shard(store, &(struct shard){1, 3, "j", "cut"}, true));
    FINE(store_check_shard(store, &(struct shard){2, 3, "k", "cut"}, true));
    FINE(store_end_run(store, first.id, "complete"));
    FINE(store_check_shard(store, &second, true));
}

/* ------------------------------------------------------------------ costs -- */

static int64_t cost_of(struct store *store, const struct shard *shard, const char *before)
{
    struct group group;
    struct plan plan = fixture_plan(&group);
    struct group_past past;
    FINE(store_group_past(store, shard, before, false, &plan, &past));
    assert_string_equal(past.uuid, past.cost_us < 0 ? "" : "GPU-1234");
    return past.cost_us;
}

/* A run that began in this second of a minute, and whose group took so many milliseconds. */
static void add_timed(struct store *store, int second, int ms, const char *also)
{
    char sql[512];
    struct run_info run = fixture_run(store, "");
    snprintf(sql, sizeof sql,
             "UPDATE run SET started_at = '2026-11-23T00:00:%02d.000Z', shard_group = NULL,"
             " shard_count = NULL, shard_index = NULL %s WHERE id = '%s';"
             "UPDATE result SET begun_at = '2026-11-23T00:01:00.000Z',"
             " measured_at = '2026-11-23T00:01:00.%03dZ'"
             " WHERE launch_id IN (SELECT id FROM launch WHERE run_id = '%s')",
             second, also, run.id, ms, run.id);
    FINE(store_exec(store, "test", sql));
}

OPEN_STORE_TEST(a_group_costs_what_it_took_last)
{
    const struct shard shard = {1, 2, "j", ""};
    assert_int_equal(cost_of(store, &shard, NULL), -1);
    add_timed(store, 10, 300, "");
    add_timed(store, 20, 250, "");
    add_timed(store, 30, 900, ", status = 'running'");
    add_timed(store, 31, 900, ", simulated = 1");
    assert_in_range(cost_of(store, &shard, NULL), 249900, 250100);
    assert_in_range(cost_of(store, &shard, "2026-11-23T00:00:20.000Z"), 299900, 300100);
    /* What was stored since the job began changes nothing for the rest of it. */
    add_timed(store, 15, 100, ", shard_group = 'j', shard_count = 2, shard_index = 1");
    assert_in_range(cost_of(store, &shard, NULL), 299900, 300100);
    assert_int_equal(cost_of(store, &shard, "2026-11-23T00:00:10.000Z"), -1);
}
