#include "store/postgres/central.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/postgres/pq.h"

static const char *const schemes[] = {"postgres://", "postgresql://"};

bool store_is_url(const char *path)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(path, schemes[i], strlen(schemes[i])) == 0) return true;
    return false;
}

const char *store_shown(const char *path, char out[STORE_SHOWN])
{
    text_printable(out, STORE_SHOWN, path, "");
    if (!store_is_url(path)) return out;
    char *host = strstr(out, "://") + 3;
    char *at = memchr(host, '@', strcspn(host, "/")); /* as libpq: '?' may be in a password */
    char *colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
    if (colon) memmove(colon, at, strlen(at) + 1);
    char *secret = strstr(out, "password=");
    if (secret) secret[-1] = '\0';
    return out;
}

/* What the server means by a code, for who reads it; NULL: its message says enough. */
static const char *advice(const char *code)
{
    static const struct {
        const char *code, *text;
    } known[] = {
        {"42501", "its role lacks that right (docs/fleet.md has them)"},
        {"3F000", "there is no store of assay's in it (assay push --schema | psql URL makes one)"},
        {"42P01", "there is no store of assay's in it (assay push --schema | psql URL makes one)"},
        {"22021", "a text here is not UTF-8, which a central store takes alone"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (code && strcmp(known[i].code, code) == 0) return known[i].text;
    return NULL;
}

/* The first line of what libpq says, which may have several. */
static int fail(struct central *central, const char *purpose, const char *message, const char *code)
{
    char first[512], line[512];
    const char *hint = advice(code);
    snprintf(first, sizeof first, "%.*s", (int)strcspn(message, "\n"), message);
    text_printable(line, sizeof line, first, "");
    return assay_error("%s: cannot %s: %s%s%s", central->shown, purpose, line, hint ? ": " : "",
                       hint ? hint : "");
}

int central_failed(struct central *central, struct pg_result *result, const char *purpose)
{
    const char *message = result ? pq.result_field(result, PQ_MESSAGE) : NULL;
    const char *code = result ? pq.result_field(result, PQ_SQLSTATE) : NULL;
    if (!message) message = pq.error(central->connection);
    fail(central, purpose, *message ? message : "the connection was lost", code);
    pq.clear(result);
    return -1;
}

struct pg_result *central_ask(struct central *central, const char *purpose, const char *sql,
                              int status)
{
    struct pg_result *result = pq.exec(central->connection, sql);
    if (pq.result_status(result) == status) return result;
    central_failed(central, result, purpose);
    return NULL;
}

int central_exec(struct central *central, const char *purpose, const char *sql, int64_t *changes)
{
    struct pg_result *result = central_ask(central, purpose, sql, PQ_COMMAND_DONE);
    if (!result) return -1;
    if (changes) *changes = strtoll(pq.changes(result), NULL, 10);
    pq.clear(result);
    return 0;
}

int central_integer(struct central *central, const char *purpose, const char *sql, int64_t *value)
{
    struct pg_result *result = central_ask(central, purpose, sql, PQ_ROWS);
    if (!result) return -1;
    *value = pq.rows(result) > 0 ? strtoll(pq.value(result, 0, 0), NULL, 10) : 0;
    pq.clear(result);
    return 0;
}

static void ignore_notice(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static int check_version(struct central *central)
{
    int64_t version = 0;
    if (central_integer(central, "open the store", "SELECT version FROM assay.schema_version",
                        &version) != 0)
        return -1;
    if (version > store_version)
        return assay_error("%s was made by a newer assay (schema %lld; this one has %d): use that "
                           "one",
                           central->shown, (long long)version, store_version);
    if (version < store_version)
        return assay_error("%s is of an older assay (schema %lld; this one has %d): its owner "
                           "brings it up to date with: assay push --schema | psql URL",
                           central->shown, (long long)version, store_version);
    return 0;
}

int central_open(struct central **out, const char *url)
{
    static const char purpose[] = "open the store";
    *out = NULL;
    if (pq_load() != 0) return -1;
    struct central *central = calloc(1, sizeof *central);
    if (!central) return assay_error("out of memory for a connection");
    store_shown(url, central->shown);
    central->connection = pq.connect(url);
    int status = 0;
    if (!central->connection || pq.status(central->connection) != PQ_CONNECTED)
        status = central->connection ? fail(central, "connect", pq.error(central->connection), NULL)
                                     : fail(central, "connect", "out of memory", NULL);
    if (status == 0) pq.notices(central->connection, ignore_notice, NULL);
    if (status == 0)
        status = central_exec(central, purpose,
                              "SET client_encoding = 'UTF8'; SET search_path = assay", NULL);
    if (status == 0) status = check_version(central);
    if (status == 0)
        *out = central;
    else
        central_close(central);
    return status;
}

void central_close(struct central *central)
{
    if (!central) return;
    pq.finish(central->connection);
    free(central);
}
