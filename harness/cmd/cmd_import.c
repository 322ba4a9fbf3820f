/* cmd_import.c - `assay import`: runs from files into the database. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/out_file.h"
#include "base/text.h"
#include "base/zstd_file.h"
#include "cmd/options.h"
#include "export/export.h"
#include "store/store.h"

struct arguments {
    struct given given;
    const char *db, *format_name;
    const struct exchange_format *format; /* NULL: each file's own */
};

static int check(void *given)
{
    struct arguments *arguments = given;
    if (!arguments->format_name) return 0;
    arguments->format = exchange_format_named(arguments->format_name, EXCHANGE_IN);
    return arguments->format ? 0 : -1;
}

/* A stream that can be read from its start again, with all that `in` has: `in`
 * itself when it is a file. NULL with assay_error. */
static FILE *seekable(FILE *in, const char *name)
{
    if (fseek(in, 0, SEEK_CUR) == 0) return in;
    FILE *copy = tmpfile();
    if (copy && stream_copy(copy, in) == 0 && fflush(copy) == 0 && !ferror(copy)) {
        rewind(copy);
        return copy;
    }
    assay_error("%s: cannot be read: %s", name, strerror(errno));
    if (copy) fclose(copy);
    return NULL;
}

/* The byte order mark that some editors put first. */
static void skip_mark(FILE *in)
{
    char mark[3];
    if (fread(mark, 1, sizeof mark, in) != sizeof mark || memcmp(mark, TEXT_MARK, sizeof mark) != 0)
        rewind(in);
}

/* From a stream that can be rewound; `format` NULL: what its content shows. */
static int import_stream(struct store *store, const struct exchange_format *format,
                         const char *path, const char *name, FILE *in, int *rows)
{
    struct zstd_file packed;
    bool is_packed = zstd_is_packed(in);
    if (is_packed && zstd_open_read(&packed, name, in) != 0) return -1;
    if (is_packed) in = packed.stream;
    if (!format) format = exchange_format_sniff(in, path);
    skip_mark(in);
    int status = format ? format->import_file(store, name, in, rows) : -1;
    return is_packed ? zstd_close(&packed, status) : status;
}

static int import_file(struct store *store, const char *path, void *given)
{
    const struct arguments *arguments = given;
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    int rows;
    char shown[ASSAY_MAX_REASON];
    FILE *in = is_stdin ? stdin : fopen(path, "r");
    if (!in) return assay_error("%s: cannot be read: %s", path, strerror(errno));
    FILE *from = seekable(in, name);
    int status = from ? import_stream(store, arguments->format, path, name, from, &rows) : -1;
    if (from && from != in) fclose(from);
    if (!is_stdin) fclose(in);
    text_printable(shown, sizeof shown, name, "");
    if (status == 0) fprintf(stderr, "%s: %d new rows\n", shown, rows);
    return status;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    return files_take(given, arguments->db, import_file);
}

static const struct command_option options[] = {
    {"format", VALUE_TEXT, "NAME", AT(format_name),
     .help = "ndjson, gbench or nvbench; by default what its content shows",
     .choices = "ndjson gbench nvbench"},
    OPTION_DB,
    {0},
};

const struct command cmd_import = {
    .name = "import",
    .summary = "take such files, or those of NVBench and Google Benchmark",
    .options = options,
    .words = {{"FILE", .kind = VALUE_FILE}},
    .least = 1,
    .most = ANY_NUMBER,
    .which = "say which files",
    .about = "Takes runs into the database. Each file is taken whole or not at all; what is\n"
             "there already is left as it is, so importing twice, or in another order, makes\n"
             "no difference.\n"
             "\n"
             "FILE is ndjson that `assay export` wrote, or the JSON of NVBench (with the files\n"
             "of --jsonbin beside it, where they are) or of Google Benchmark, each as it is or\n"
             "compressed by zstd (.zst); - is standard input.\n",
    .exit = "0 fine, 2 usage, or a file that cannot be taken.",
    .examples = "assay import int8.ndjson.zst\n"
                "./copy_bench --json copy.json && assay import copy.json",
    .size = sizeof(struct arguments),
    .check = check,
    .run = run,
};
