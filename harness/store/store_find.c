/* store_find.c - which run a person means by a few words. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/store_central.h"
#include "store/store_internal.h"

enum { MIN_PREFIX = 4, MAX_LISTED = 8, MAX_WORDS = 256 };

#define NEWEST_FIRST STORE_NEWEST_FIRST("started_at") "rowid DESC"

/* How many bytes of `spec` name a database; 0: none. A URL ends before the first colon of its path.
 */
static size_t database_length(const char *spec)
{
    static const char ending[] = ".sqlite";
    const size_t length = sizeof ending - 1;
    if (store_is_url(spec)) {
        const char *host = strstr(spec, "//") + 2, *path = host + strcspn(host, "/");
        return (size_t)(path - spec) + strcspn(path, ":");
    }
    for (const char *at = strstr(spec, ending); at; at = strstr(at + 1, ending))
        if (at[length] == ':' || at[length] == '\0') return (size_t)(at - spec) + length;
    return 0;
}

int store_split_run(const char *spec, const char *default_path, char *path, size_t path_size,
                    const char **run)
{
    size_t size = database_length(spec);
    const char *from = size ? spec : default_path;
    *run = spec + size + (size > 0 && spec[size] == ':');
    if (size == 0) size = strlen(default_path);
    if (**run == '\0') *run = "latest"; /* a file alone, or nothing after the colon */
    if (size >= path_size) return assay_error("the path before the run in '%s' is too long", spec);
    snprintf(path, path_size, "%.*s", (int)size, from);
    return 0;
}

/* 1: found, 0: not, -1: reported. */
static int find_one(struct store *store, const char *sql, const char *key, char id[STORE_ID])
{
    return store_text(store, "look for a run", sql, key, id, STORE_ID);
}

/* Whether `spec` is latest or latest~N. */
static bool parse_latest(const char *spec, int *back)
{
    static const char word[] = "latest";
    const size_t length = sizeof word - 1;
    char *end;
    if (strncmp(spec, word, length) != 0) return false;
    *back = 0;
    if (spec[length] == '\0') return true;
    if (spec[length] != '~' || !isdigit((unsigned char)spec[length + 1])) return false;
    long value = strtol(spec + length + 1, &end, 10);
    *back = value > 1000000000 ? 1000000000 : (int)value;
    return *end == '\0';
}

static int find_latest(struct store *store, int back, char id[STORE_ID])
{
    static const char at_offset[] = "SELECT id FROM run WHERE NOT " STORE_OF_GATE NEWEST_FIRST
                                    " LIMIT 1 OFFSET CAST(:key AS INTEGER)";
    char offset[16], most[16];
    int64_t runs;
    snprintf(offset, sizeof offset, "%d", back);
    snprintf(most, sizeof most, "%d", back + 1);
    if (store_need(store, NEED_NEWEST, most) != 0) return -1;
    int found = find_one(store, at_offset, offset, id);
    if (found != 0) return found == 1 ? 0 : -1;
    if (store_integer(store, "count the runs", "SELECT count(*) FROM run WHERE NOT " STORE_OF_GATE,
                      NULL, &runs) != 0)
        return -1;
    if (runs == 0)
        return assay_error("%s: there is no run in it (launches of gates are not counted)",
                           store->path);
    return assay_error("%s: latest~%d goes back too far: it holds %lld run%s", store->path, back,
                       (long long)runs, runs == 1 ? "" : "s");
}

static bool is_prefix(const char *spec)
{
    size_t length = strlen(spec);
    return length >= MIN_PREFIX && length < STORE_ID &&
           strspn(spec, "0123456789abcdefABCDEF") == length;
}

/* 1: found, 0: not, -1: several, or a failure. */
static int find_prefix(struct store *store, const char *spec, char id[STORE_ID])
{
    struct query query;
    char listed[MAX_LISTED * (STORE_ID + 2)] = "";
    int count = 0;
    query_ask(&query, store, "look for a run",
              "SELECT id FROM run WHERE substr(id, 1, length(:key)) = lower(:key)" NEWEST_FIRST,
              spec);
    while (query_step(&query) == 1) {
        column_text(&query, "id", id, STORE_ID);
        if (count++ < MAX_LISTED) text_add(listed, sizeof listed, ", ", "%s", id);
    }
    if (query_close(&query) != 0) return -1;
    if (count <= 1) return count;
    return assay_error("'%s' begins the ids of %d runs: %s%s", spec, count, listed,
                       count > MAX_LISTED ? ", ..." : "");
}

/* Labels and baselines are found by their names: what has this one and is not found is a job. */
static int say_nearest(const struct store *store, const char *spec, const char *nearest,
                       bool or_job)
{
    if (!nearest)
        return assay_error("%s: there is no run '%s' (an id's first four digits or more, a label, "
                           "a baseline, a job, latest or latest~N)",
                           store->path, spec);
    if (strcmp(nearest, spec) != 0)
        return assay_error("%s: there is no run '%s' (did you mean '%s'?)", store->path, spec,
                           nearest);
    if (or_job) return assay_error("%s: no share of the job '%s' is complete", store->path, spec);
    return assay_error("%s: '%s' is a job: this takes one run, a share of it by its id (assay list "
                       "runs)",
                       store->path, spec);
}

static int not_found(struct store *store, const char *spec, bool or_job)
{
    static const char latest[] = "latest";
    const char *words[MAX_WORDS] = {latest};
    int count = 1;
    struct query query;
    if (store_need(store, NEED_NEWEST, "255") != 0) return -1;
    query_open(&query, store, "look for a run",
               "SELECT name FROM baseline UNION SELECT label AS name FROM run WHERE label != ''"
               " UNION SELECT shard_group AS name FROM run WHERE shard_group != ''"
               " LIMIT 255");
    while (count < MAX_WORDS && query_step(&query) == 1) {
        char name[RESULT_MAX_PROPERTY];
        column_text(&query, "name", name, sizeof name);
        words[count] = strdup(name);
        if (words[count]) count++;
    }
    int status = query_close(&query);
    if (status == 0) status = say_nearest(store, spec, text_nearest(spec, words, count), or_job);
    for (int i = 1; i < count; i++)
        free((char *)words[i]);
    return status;
}

int store_find_label(struct store *store, const char *label, char id[STORE_ID])
{
    static const char by_label[] = "SELECT id FROM run WHERE label = :key" NEWEST_FIRST " LIMIT 1";
    if (store_need(store, NEED_NAMED, label) != 0) return -1;
    return find_one(store, by_label, label, id);
}

/* 1: found, 0: not, -1: reported. */
static int find_job(struct store *store, const char *job, char id[STORE_ID])
{
    static const char by_job[] = "SELECT id FROM run WHERE shard_group = :key AND :key != ''"
                                 " AND status = 'complete'" NEWEST_FIRST " LIMIT 1";
    if (store_need(store, NEED_SHARES, "") != 0) return -1;
    int found = find_one(store, by_job, job, id);
    if (found == 1) snprintf(store->job_run, sizeof store->job_run, "%s", id);
    return found;
}

static int find_run(struct store *store, const char *spec, bool or_job, char id[STORE_ID])
{
    static const char by_baseline[] = "SELECT run_id AS id FROM baseline WHERE name = :key";
    int back;
    if (parse_latest(spec, &back)) return find_latest(store, back, id);
    if (store_need(store, NEED_NAMED, spec) != 0) return -1;

    int found = is_prefix(spec) ? find_prefix(store, spec, id) : 0;
    if (found == 0 && *spec) found = store_find_label(store, spec, id);
    if (found == 0) found = find_one(store, by_baseline, spec, id);
    if (found == 0 && or_job) found = find_job(store, spec, id);
    if (found == 0) return not_found(store, spec, or_job);
    return found == 1 ? 0 : -1;
}

int store_find_run(struct store *store, const char *spec, char id[STORE_ID])
{
    return find_run(store, spec, false, id);
}

int store_find_run_or_job(struct store *store, const char *spec, char id[STORE_ID])
{
    return find_run(store, spec, true, id);
}

int store_find_newest(struct store *store, char id[STORE_ID])
{
    static const char newest[] = "SELECT id FROM run" NEWEST_FIRST " LIMIT 1";
    if (store_need(store, NEED_NEWEST, "1") != 0) return -1;
    int found = find_one(store, newest, NULL, id);
    if (found != 0) return found == 1 ? 0 : -1;
    return assay_error("%s: there is no run in it", store->path);
}

int store_find_unfinished(struct store *store, const char *suite, char id[STORE_ID])
{
    static const char by_suite[] =
        "SELECT id FROM run WHERE suite = :key AND status != 'complete'" NEWEST_FIRST " LIMIT 1";
    int found = find_one(store, by_suite, suite, id);
    if (found == 0)
        return assay_error("%s: no run of '%s' is unfinished: there is nothing to resume",
                           store->path, suite);
    return found == 1 ? 0 : -1;
}
