/* store.c - opening, closing and migrating the database. */
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system_file.h"
#include "store/postgres/central.h"
#include "store/store_internal.h"

enum { TIMEOUT_MS = 10000 };

static int timeout_ms(void)
{
    const char *text = getenv("ASSAY_DB_TIMEOUT_MS");
    char *end;
    if (!text || !*text) return TIMEOUT_MS;
    long value = strtol(text, &end, 10);
    return *end || value < 0 || value > 3600000 ? TIMEOUT_MS : (int)value;
}

/* The folder of a new database: made if missing, one level (results/). */
static int make_folder(const char *path)
{
    char folder[STORE_MAX_PATH] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return assay_error("%s: cannot make the folder %s: %s", path, folder, strerror(errno));
    /* SQLite would try again without writing, and say that there is no file. */
    if (access(folder, W_OK | X_OK) != 0)
        return assay_error("%s: cannot make the database: %s", path, strerror(errno));
    return 0;
}

/* A folder, a missing file: what SQLite would say less clearly. */
static int check_path(const char *path, enum store_mode mode)
{
    struct stat about;
    if (path[0] == '\0') return assay_error("the path of the database is empty");
    if (strlen(path) >= STORE_MAX_PATH - 2)
        return assay_error("the path of the database is too long");
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode)) return assay_error("%s is a folder, not a database", path);
        return 0;
    }
    if (errno != ENOENT)
        return assay_error("%s: cannot open the database: %s", path, strerror(errno));
    if (mode != STORE_WRITE)
        return assay_error("%s: there is no database (assay run makes one)", path);
    return make_folder(path);
}

/* What the file's schema holds beside tables and indexes is never run: this program reads no view
 * and has no trigger, and either may hold a query that does not end. */
static void distrust_schema(sqlite3 *db)
{
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        sqlite3_db_config(db, off[i], 0, NULL);
}

static int open_file(struct store *store, const char *name, int flags)
{
    /* One thread uses a store: without SQLite's lock around each column that is read, a comparison
     * of 10,000 cases takes a quarter less time. */
    int rc = sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK) return store_failed(store, rc, "open the database");
    sqlite3_extended_result_codes(store->db, 1);
    distrust_schema(store->db);
    sqlite3_busy_timeout(store->db, store->timeout_ms);
    return 0;
}

/* The write-ahead log cannot be read in a folder that takes no new files. When
 * no log is left over, the file alone is the whole database and may be read so. */
static int open_frozen(struct store *store)
{
    struct stat about;
    char log[STORE_MAX_PATH + 8];
    snprintf(log, sizeof log, "%s-wal", store->path);
    if (stat(log, &about) == 0 && about.st_size > 0)
        return assay_error("%s: its newest rows are in its log (-wal), which cannot be read where "
                           "no file may be made: copy both files to a folder of yours",
                           store->path);

    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, "file:");
    for (const char *c = store->path; *c; c++) {
        if (*c == '%' || *c == '?' || *c == '#')
            sqlite3_str_appendf(uri, "%%%02x", (unsigned char)*c);
        else
            sqlite3_str_appendchar(uri, 1, *c);
    }
    sqlite3_str_appendall(uri, "?immutable=1");
    char *name = sqlite3_str_finish(uri);
    if (!name) return assay_error("%s: cannot open the database: out of memory", store->path);
    sqlite3_close(store->db);
    store->db = NULL;
    int status = open_file(store, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    sqlite3_free(name);
    return status;
}

static int open_connection(struct store *store, enum store_mode mode)
{
    int64_t pages;
    int flags = SQLITE_OPEN_READWRITE | (mode == STORE_WRITE ? SQLITE_OPEN_CREATE : 0);
    if (open_file(store, store->path, flags) != 0) return -1;

    static const char touch[] = "SELECT count(*) FROM sqlite_schema";
    int rc = sqlite3_exec(store->db, touch, NULL, NULL, NULL);
    /* SQLite opens it for reading then, and misses the log that it cannot make. */
    if ((rc & 0xff) == SQLITE_CANTOPEN && mode != STORE_READ &&
        (access(store->path, W_OK) != 0 || sqlite3_db_readonly(store->db, "main")))
        rc = SQLITE_READONLY;
    bool frozen = mode == STORE_READ && access(store->path, R_OK) == 0 &&
                  ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY);
    if (frozen) {
        if (open_frozen(store) != 0) return -1;
    } else if (rc != SQLITE_OK) {
        return store_failed(store, rc, "open the database");
    }
    return store_integer(store, "open the database", touch, NULL, &pages);
}

/* ----------------------------------------------------------- migration -- */

static int user_version(struct store *store, int64_t *version)
{
    return store_integer(store, "read the version of the database", "PRAGMA user_version", NULL,
                         version);
}

/* Ours, or empty so that it can become ours. */
static int check_kind(struct store *store, bool *empty)
{
    int64_t application, objects, virtual;
    if (store_integer(store, "read the database", "PRAGMA application_id", NULL, &application) !=
            0 ||
        store_integer(store, "read the database", "SELECT count(*) FROM sqlite_schema", NULL,
                      &objects) != 0 ||
        store_integer(store, "read the database",
                      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage = 0",
                      NULL, &virtual) != 0)
        return -1;
    *empty = application == 0 && objects == 0;
    if (!*empty && application != STORE_APPLICATION)
        return assay_error("%s is a database, but not one of assay's", store->path);
    if (virtual > 0)
        return assay_error("%s has virtual tables, which no database of assay's has", store->path);
    return 0;
}

static int newest_of(const struct store_step *steps)
{
    int version = 0;
    for (; steps->version; steps++)
        version = steps->version;
    return version;
}

static int check_version(struct store *store, int64_t version, const struct store_step *steps)
{
    if (version > newest_of(steps))
        return assay_error("%s was made by a newer assay (schema %lld; this one knows up to %d): "
                           "use that one, or export there and import here",
                           store->path, (long long)version, newest_of(steps));
    if (version > 0 && version < steps->version)
        return assay_error("%s is of an older development version of assay (schema %lld; this one "
                           "begins with %d): export its runs with that one and import them here",
                           store->path, (long long)version, steps->version);
    return 0;
}

/* What the file is: not a stranger's, and of no version that the steps do not know. */
static int look(struct store *store, const struct store_step *steps, int64_t *version, bool *empty)
{
    if (check_kind(store, empty) != 0 || user_version(store, version) != 0) return -1;
    return check_version(store, *version, steps);
}

static int migrate_locked(struct store *store, const struct store_step *steps)
{
    static const char purpose[] = "bring the database to this version";
    char done[96];
    int64_t version;
    bool empty;
    /* Another process may have migrated while this one waited for the lock. */
    if (look(store, steps, &version, &empty) != 0) return -1;
    const int newest = newest_of(steps);
    for (; steps->version; steps++) {
        if (steps->version <= version) continue;
        if (!empty && steps->alters && store_exec(store, purpose, steps->alters) != 0) return -1;
        if (steps->makes && store_exec(store, purpose, steps->makes) != 0) return -1;
    }
    snprintf(done, sizeof done, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             STORE_APPLICATION, newest);
    return store_exec(store, purpose, done);
}

int store_migrate(struct store *store, const struct store_step *steps)
{
    static const char purpose[] = "bring the database to this version";
    if (store_begin(store, purpose) != 0) return -1;
    return store_finish(store, purpose, migrate_locked(store, steps));
}

/* ---------------------------------------------------------------- open -- */

/* What a commit must survive is a kill of the process, for which NORMAL suffices with the log. A
 * loss of power may take the last commits then, and leaves the file whole; FULL keeps them too,
 * at a sync per commit. With the rollback journal FULL is what keeps the file whole. */
static int set_synchronous(struct store *store, bool with_log)
{
    static const char *const words[] = {"normal", "full"};
    static const char *const sql[] = {"PRAGMA synchronous = NORMAL", "PRAGMA synchronous = FULL"};
    const char *wanted = getenv("ASSAY_SYNCHRONOUS");
    int level = wanted && *wanted ? -1 : 0;
    for (int i = 0; level < 0 && i < 2; i++)
        if (strcmp(wanted, words[i]) == 0) level = i;
    if (level < 0) return assay_error("ASSAY_SYNCHRONOUS is normal or full, not '%s'", wanted);
    return store_exec(store, "open the database", sql[with_log ? level : 1]);
}

/* The log where it can be had: readers then never wait for the writer. */
static int set_journal(struct store *store)
{
    char mode[16] = "";
    if (store_text(store, "open the database", "PRAGMA journal_mode", NULL, mode, sizeof mode) < 0)
        return -1;

    /* The log needs memory that all processes share, which hosts do not. Refused
     * (another process is in it just now, or no shared memory) is no failure: the
     * journal that it has serves as well. */
    if (strcmp(mode, "wal") != 0 && !system_disk_shared(store->path)) {
        sqlite3_stmt *change;
        if (sqlite3_prepare_v2(store->db, "PRAGMA journal_mode = WAL", -1, &change, NULL) ==
                SQLITE_OK &&
            sqlite3_step(change) == SQLITE_ROW)
            snprintf(mode, sizeof mode, "%s", (const char *)sqlite3_column_text(change, 0));
        sqlite3_finalize(change);
    }
    return set_synchronous(store, strcmp(mode, "wal") == 0);
}

static int prepare_writing(struct store *store)
{
    int64_t version;
    bool empty;
    if (look(store, store_steps, &version, &empty) != 0) return -1;
    if (sqlite3_db_readonly(store->db, "main"))
        return store_failed(store, SQLITE_READONLY, "write to it");
    if (set_journal(store) != 0) return -1;
    if (version == store_version && !empty) return 0;
    return store_migrate(store, store_steps);
}

static int prepare_reading(struct store *store)
{
    int64_t version;
    bool empty;
    if (look(store, store_steps, &version, &empty) != 0) return -1;
    if (empty) return assay_error("%s is empty: there is no run in it", store->path);
    if (version < store_version && store_migrate(store, store_steps) != 0) return -1;
    return store_exec(store, "open the database", "PRAGMA query_only = ON");
}

int store_open_memory(struct store **out)
{
    static const char path[] = ":memory:";
    *out = calloc(1, sizeof **out);
    if (!*out) return assay_error("out of memory for a database");
    snprintf((*out)->path, sizeof(*out)->path, "%s", path);
    if (open_file(*out, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) == 0 &&
        store_migrate(*out, store_steps) == 0 && exchange_functions(*out) == 0)
        return 0;
    store_close(*out);
    *out = NULL;
    return -1;
}

int store_open(struct store **out, const char *path, enum store_mode mode)
{
    *out = NULL;
    if (store_is_url(path)) return store_open_url(out, path, mode);
    if (check_path(path, mode) != 0) return -1;
    struct store *store = calloc(1, sizeof *store);
    if (!store) return assay_error("%s: cannot open the database: out of memory", path);
    /* To SQLite ":memory:" and "file:..." are no files. */
    bool is_special = path[0] == ':' || strncmp(path, "file:", 5) == 0;
    snprintf(store->path, sizeof store->path, "%s%s", is_special ? "./" : "", path);
    store->timeout_ms = timeout_ms();

    if (open_connection(store, mode) != 0 ||
        store_exec(store, "open the database", "PRAGMA foreign_keys = ON") != 0 ||
        (mode == STORE_READ ? prepare_reading(store) : prepare_writing(store)) != 0 ||
        exchange_functions(store) != 0) {
        store_close(store);
        return -1;
    }
    *out = store;
    return 0;
}

int store_try(const char *path)
{
    struct store *store;
    if (access(path, F_OK) != 0 && !store_is_url(path)) return check_path(path, STORE_WRITE);
    if (store_open(&store, path, STORE_CHANGE) != 0) return -1;
    store_close(store);
    return 0;
}

void store_close(struct store *store)
{
    if (!store) return;
    sqlite3_close(store->db);
    central_close(store->central);
    free(store);
}

const char *store_library(void)
{
    return sqlite3_libversion();
}
