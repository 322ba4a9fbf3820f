#include "store/exchange/store_foreign.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/grow.h"
#include "base/text.h"
#include "case/case_name.h"
#include "case/surroundings.h"
#include "store/store_rows.h"

/* ---------------------------------------------------------------- input -- */

/* In bytes. It is read as a whole; a hundred thousand results have less. */
static const size_t longest_file = 256 << 20;

static int read_all(struct foreign *foreign, FILE *in)
{
    size_t size = 0, room = 0, got = 1;
    while (got > 0) {
        if (size >= longest_file)
            return assay_error("%s: it has %zu MiB or more", foreign->name, longest_file >> 20);
        if (size + 1 >= room) {
            room = room ? 2 * room : 65536;
            char *grown = realloc(foreign->text, room);
            if (!grown) return assay_error("%s: cannot import: out of memory", foreign->name);
            foreign->text = grown;
        }
        got = fread(foreign->text + size, 1, room - size - 1, in);
        size += got;
    }
    foreign->text[size] = '\0';
    if (ferror(in)) return assay_error("%s: cannot be read: %s", foreign->name, strerror(errno));
    if (strlen(foreign->text) != size)
        return assay_error("%s: there is a NUL byte in it", foreign->name);
    return 0;
}

static int check_json(struct foreign *foreign)
{
    int64_t valid = 0;
    if (store_integer(foreign->store, "read a file", "SELECT json_valid(:key)", foreign->text,
                      &valid) != 0)
        return -1;
    if (valid) return 0;
    return assay_error("%s: not JSON, or cut short", foreign->name);
}

static void written_at(FILE *in, char text[32])
{
    struct stat about;
    struct tm utc;
    int descriptor = fileno(in);
    timestamp_now(text);
    if (descriptor < 0 || fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return;
    if (gmtime_r(&about.st_mtime, &utc)) strftime(text, 32, "%Y-%m-%dT%H:%M:%S.000Z", &utc);
}

/* ----------------------------------------------------------------- runs -- */

static void launch_init(struct launch_info *launch)
{
    struct device_info *device = &launch->device;
    launch->number = 1;
    device_state_init(&launch->start);
    surroundings_init(&launch->around);
    device->compute_capability = device->multiprocessors = device->ecc = device->mig = -1;
    device->l1_bytes = device->cache_bytes = device->memory_bytes = -1;
    device->sm_mhz_max = device->memory_mhz_max = device->power_limit_w = NAN;
    device->event_floor_ns = device->kernel_floor_ns = device->clock_step_ns = NAN;
}

struct foreign_run *foreign_run_add(struct foreign *foreign)
{
    struct foreign_run *run =
        grow_add(&foreign->runs, &foreign->run_count, sizeof *run, "the runs of the file");
    if (!run) return NULL;
    launch_init(&run->launch);
    run->host.cores = -1;
    run->host.memory_bytes = -1;
    text_copy(run->run.label, sizeof run->run.label, foreign_basename(foreign->name));
    return run;
}

struct case_result *foreign_case_add(struct foreign_run *run)
{
    struct case_result *result =
        grow_add(&run->cases, &run->case_count, sizeof *result, "the cases of the file");
    if (result) result_init(result);
    return result;
}

int foreign_samples_alloc(struct samples *samples, int count)
{
    size_t size = (size_t)count;
    samples->count = count;
    samples->time_ns = malloc(size * sizeof *samples->time_ns);
    samples->round = malloc(size * sizeof *samples->round);
    samples->mark = calloc(size, sizeof *samples->mark);
    return samples->time_ns && samples->round && samples->mark
               ? 0
               : assay_error("out of memory for %d samples", count);
}

void foreign_set_bytes(struct case_result *result, double bytes)
{
    if (isnan(bytes)) return;
    memset(&result->work, 0, sizeof result->work);
    result->work.read_bytes = round(bytes);
}

void foreign_set_status(struct case_result *result, enum case_status status, const char *reason)
{
    result->status = status;
    if (status == STATUS_OK && result->time_ns > 0) return;
    if (status == STATUS_OK) {
        result->status = STATUS_SKIPPED;
        reason = "the file has no time for it";
    }
    result->time_ns = result->lo_ns = result->hi_ns = NAN;
    result->note[0] = '\0';
    text_copy(result->reason, sizeof result->reason, reason);
}

/* ---------------------------------------------------------------- names -- */

const char *foreign_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void foreign_name(char *out, size_t size, const char *name)
{
    if (text_copy(out, size, name) != 0) foreign_name_hashed(out, size, name, name);
}

void foreign_name_hashed(char *out, size_t size, const char *name, const char *whole)
{
    enum { DIGITS = 8 };
    struct id_hash hash;
    char id[ID_SIZE];
    id_hash_begin(&hash);
    id_hash_text(&hash, whole);
    id_hash_end(&hash, id);
    text_copy(out, size - DIGITS - 1, name);
    size_t used = strlen(out);
    snprintf(out + used, size - used, "~%.*s", DIGITS, id);
}

void foreign_shape_add(char shape[RESULT_MAX_SHAPE], const char *name, const char *value)
{
    char word[4 * RESULT_MAX_SHAPE], whole[5 * RESULT_MAX_SHAPE];
    snprintf(word, sizeof word, "%s", name);
    size_t equals = strlen(word);
    snprintf(word + equals, sizeof word - equals, "=%s", value);
    for (size_t i = 0; word[i]; i++)
        if (i != equals && strchr(" =\t\n", word[i])) word[i] = '_';
    snprintf(whole, sizeof whole, "%s%s%s", shape, shape[0] ? " " : "", word);
    foreign_name(shape, RESULT_MAX_SHAPE, whole);
}

/* -------------------------------------------------------------- storing -- */

static void hash_samples(struct id_hash *hash, const struct samples *samples)
{
    if (samples->time_ns)
        id_hash_bytes(hash, samples->time_ns, (size_t)samples->count * sizeof *samples->time_ns);
}

/* By what the file said; its name and date are no part of that. */
static void make_ids(const struct foreign *foreign, int index)
{
    struct foreign_run *run = &foreign->runs[index];
    struct id_hash hash;
    id_hash_begin(&hash);
    id_hash_text(&hash, "assay foreign 1");
    id_hash_text(&hash, foreign->text);
    id_hash_bytes(&hash, &index, sizeof index);
    for (int i = 0; i < run->case_count; i++)
        hash_samples(&hash, &run->cases[i].samples);
    id_hash_end(&hash, run->run.id);
    id_hash_text(&hash, "launch");
    id_hash_end(&hash, run->launch.id);
    memcpy(run->launch.run_id, run->run.id, sizeof run->launch.run_id);
}

static int store_foreign_cases(const struct foreign *foreign, const struct foreign_run *run,
                               int *rows)
{
    for (int i = 0; i < run->case_count; i++) {
        const struct case_result *result = &run->cases[i];
        const struct result_row row = {.launch_id = run->launch.id,
                                       .purpose = PURPOSE_CASE,
                                       .group_label = result->id.operation,
                                       .threshold = NAN,
                                       .expect_wrong = -1,
                                       .measured_at = foreign->started_at,
                                       .result = result,
                                       .merge = true};
        char name[CASE_TEXT];
        bool added;
        if (result_write(foreign->store, &row, &added) != 0) return -1;
        case_text(&result->id, name);
        if (!added) return assay_error("%s: %s is there twice", foreign->name, name);
        (*rows)++;
    }
    return 0;
}

static int store_run(const struct foreign *foreign, int index, int *rows)
{
    struct foreign_run *run = &foreign->runs[index];
    int64_t there = 0;
    make_ids(foreign, index);
    const struct run_row row = {&run->run,           &run->program, &run->host, "complete",
                                foreign->started_at, NULL,          true};
    const struct launch_row launch = {&run->launch, foreign->started_at, true};
    if (store_integer(foreign->store, "look for a run", "SELECT count(*) FROM run WHERE id = :key",
                      run->run.id, &there) != 0)
        return -1;
    if (there) return 0;
    if (run_write(foreign->store, &row) != 0 || launch_write(foreign->store, &launch) != 0)
        return -1;
    return store_foreign_cases(foreign, run, rows);
}

static int store_runs(const struct foreign *foreign, int *rows_added)
{
    int rows = 0, status = store_begin(foreign->store, "import");
    if (status != 0) return -1;
    for (int i = 0; status == 0 && i < foreign->run_count; i++)
        status = store_run(foreign, i, &rows);
    status = store_finish(foreign->store, "import", status);
    if (status == 0) *rows_added = rows;
    return status;
}

static void foreign_release(struct foreign *foreign)
{
    for (int i = 0; i < foreign->run_count; i++) {
        for (int j = 0; j < foreign->runs[i].case_count; j++)
            samples_release(&foreign->runs[i].cases[j].samples);
        free(foreign->runs[i].cases);
    }
    free(foreign->runs);
    free(foreign->text);
}

int foreign_import(struct store *store, const char *name, FILE *in, int *rows_added,
                   int (*check)(struct foreign *foreign), int (*read)(struct foreign *foreign))
{
    struct foreign foreign = {.store = store, .name = name};
    *rows_added = 0;
    written_at(in, foreign.started_at);
    int status = read_all(&foreign, in);
    if (status == 0) status = check_json(&foreign);
    if (status == 0) status = check(&foreign);
    if (status == 0) status = read(&foreign);
    if (status == 0 && foreign.run_count == 0)
        status = assay_error("%s: there is no result in it", name);
    if (status == 0) status = store_runs(&foreign, rows_added);
    foreign_release(&foreign);
    return status;
}
