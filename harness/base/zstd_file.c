#define _GNU_SOURCE /* fopencookie */
#include "base/zstd_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/text.h"

bool zstd_is_named(const char *path)
{
    return text_ends(path, ".zst");
}

bool zstd_is_packed(FILE *in)
{
    static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd}; /* RFC 8878, 3.1.1 */
    unsigned char start[4] = "";
    bool is_packed = fread(start, sizeof start, 1, in) == 1 && !memcmp(start, magic, sizeof magic);
    rewind(in);
    return is_packed;
}

#if ASSAY_HAVE_ZSTD
#include <zstd.h>

/* A published run is written once and cloned often: at 19 it has three quarters of the bytes that
 * it has at 3, and a run of 7 MB takes 4 seconds. */
enum { LEVEL = 19, PIECE = 1 << 17 };

/* Samples shrink to a tenth. What grows more than this, beyond the first bytes, was made to fill
 * the memory or the disk of who reads it. */
static const double most_growth = 100, free_growth = 16 << 20;

/* -------------------------------------------------------------- reading -- */

static ssize_t fail_read(struct zstd_file *file, const char *why)
{
    file->fault = why;
    errno = EIO;
    return -1;
}

/* The next compressed bytes; at the end there are none. */
static int refill(struct zstd_file *file)
{
    file->piece_at = 0;
    file->piece_end = fread(file->piece, 1, PIECE, file->packed);
    file->bytes_in += (double)file->piece_end;
    return ferror(file->packed) ? -1 : 0;
}

static ssize_t read_unpacked(void *cookie, char *out, size_t size)
{
    struct zstd_file *file = cookie;
    ZSTD_outBuffer to = {out, size, 0};
    while (to.pos == 0 && size > 0) {
        if (file->piece_at == file->piece_end && refill(file) != 0)
            return fail_read(file, strerror(errno));
        bool is_end = file->piece_end == 0;
        if (is_end && file->is_whole) return 0;
        ZSTD_inBuffer from = {file->piece, file->piece_end, file->piece_at};
        size_t left = ZSTD_decompressStream(file->context, &to, &from);
        if (ZSTD_isError(left)) return fail_read(file, ZSTD_getErrorName(left));
        file->piece_at = from.pos;
        file->is_whole = left == 0;
        if (is_end && to.pos == 0) return fail_read(file, "it is cut short");
    }
    file->bytes_out += (double)to.pos;
    if (file->bytes_out > free_growth && file->bytes_out > most_growth * file->bytes_in)
        return fail_read(file, "it grows to more than 100 times its size (what is to be trusted: "
                               "decompress it with zstd -d first)");
    return (ssize_t)to.pos;
}

/* Only to the start. */
static int seek_start(void *cookie, off64_t *offset, int whence)
{
    struct zstd_file *file = cookie;
    if (whence != SEEK_SET || *offset != 0) return -1;
    rewind(file->packed);
    file->piece_at = file->piece_end = 0;
    file->bytes_in = file->bytes_out = 0;
    file->is_whole = true;
    file->fault = NULL;
    return ZSTD_isError(ZSTD_DCtx_reset(file->context, ZSTD_reset_session_only)) ? -1 : 0;
}

static int close_read(void *cookie)
{
    struct zstd_file *file = cookie;
    ZSTD_freeDCtx(file->context);
    free(file->piece);
    return 0;
}

/* -------------------------------------------------------------- writing -- */

/* Compress `in` and, with ZSTD_e_end, what libzstd still holds. */
static int pack(struct zstd_file *file, ZSTD_inBuffer *in, ZSTD_EndDirective how)
{
    size_t left;
    do {
        ZSTD_outBuffer to = {file->piece, PIECE, 0};
        left = ZSTD_compressStream2(file->context, &to, in, how);
        if (ZSTD_isError(left)) {
            errno = ENOMEM; /* nothing else makes it fail */
            return -1;
        }
        if (fwrite(file->piece, 1, to.pos, file->packed) != to.pos) return -1;
    } while (in->pos < in->size || (how == ZSTD_e_end && left > 0));
    return 0;
}

static ssize_t write_packed(void *cookie, const char *data, size_t size)
{
    ZSTD_inBuffer in = {data, size, 0};
    return pack(cookie, &in, ZSTD_e_continue) == 0 ? (ssize_t)size : 0;
}

static int close_write(void *cookie)
{
    struct zstd_file *file = cookie;
    ZSTD_inBuffer none = {"", 0, 0};
    int status = pack(file, &none, ZSTD_e_end), why = errno;
    ZSTD_freeCCtx(file->context);
    free(file->piece);
    errno = why;
    return status;
}

/* ------------------------------------------------------- open and close -- */

static int open_stream(struct zstd_file *file, const char *mode, cookie_io_functions_t functions)
{
    file->piece = malloc(PIECE);
    file->stream = file->context && file->piece ? fopencookie(file, mode, functions) : NULL;
    if (file->stream) return 0;
    free(file->piece);
    return assay_error("%s: out of memory", file->name);
}

int zstd_open_read(struct zstd_file *file, const char *name, FILE *packed)
{
    *file = (struct zstd_file){.name = name, .packed = packed, .is_whole = true};
    file->context = ZSTD_createDCtx();
    const cookie_io_functions_t reading = {
        .read = read_unpacked, .seek = seek_start, .close = close_read};
    if (open_stream(file, "r", reading) == 0) return 0;
    ZSTD_freeDCtx(file->context);
    return -1;
}

int zstd_open_write(struct zstd_file *file, const char *name, FILE *packed)
{
    *file = (struct zstd_file){.name = name, .packed = packed};
    ZSTD_CCtx *context = file->context = ZSTD_createCCtx();
    const cookie_io_functions_t writing = {.write = write_packed, .close = close_write};
    if (context) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1); /* damage is found */
    }
    if (open_stream(file, "w", writing) == 0) return 0;
    ZSTD_freeCCtx(context);
    return -1;
}

int zstd_close(struct zstd_file *file, int status)
{
    bool fine = fclose(file->stream) == 0;
    if (file->fault) return assay_error("%s: cannot be decompressed: %s", file->name, file->fault);
    if (status == 0 && !fine)
        return assay_error("%s: cannot be written: %s", file->name, strerror(errno));
    return status;
}

#else

static int no_library(const char *name)
{
    return assay_error("%s: this program was built without libzstd and knows no .zst (zstd -d "
                       "decompresses a file)",
                       name);
}

int zstd_open_read(struct zstd_file *file, const char *name, FILE *packed)
{
    (void)file, (void)packed;
    return no_library(name);
}

int zstd_open_write(struct zstd_file *file, const char *name, FILE *packed)
{
    (void)file, (void)packed;
    return no_library(name);
}

int zstd_close(struct zstd_file *file, int status)
{
    (void)file;
    return status;
}
#endif
