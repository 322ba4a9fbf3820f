/* test_zstd_file.c - what goes through a compressed file comes back, or is an error. */
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "base/zstd_file.h"

/* Append `size` bytes to `packed` as one frame. */
static void write_frame(FILE *packed, const void *data, size_t size)
{
    struct zstd_file file;
    assert_int_equal(zstd_open_write(&file, "out", packed), 0);
    assert_int_equal(fwrite(data, 1, size, file.stream), size);
    assert_int_equal(zstd_close(&file, 0), 0);
}

/* Read at most `most` bytes of `packed`; what zstd_close says. */
static int read_back(FILE *packed, char *data, size_t most, size_t *size)
{
    struct zstd_file file;
    rewind(packed);
    assert_int_equal(zstd_open_read(&file, "in", packed), 0);
    *size = fread(data, 1, most, file.stream);
    return zstd_close(&file, ferror(file.stream) ? -1 : 0);
}

TEST(what_is_written_is_read)
{
    enum { SIZE = 3000000 };
    char *data = malloc(SIZE), *back = malloc(SIZE + 1);
    FILE *packed = tmpfile();
    struct zstd_file file;
    size_t got;
    for (int i = 0; i < SIZE; i++) /* compressible by half */
        data[i] = (char)((uint32_t)i * 2654435761u >> 28);
    write_frame(packed, data, SIZE / 2);
    write_frame(packed, data + SIZE / 2, SIZE / 2);
    assert_true(ftell(packed) < SIZE);
    assert_int_equal(read_back(packed, back, SIZE + 1, &got), 0);
    assert_int_equal(got, SIZE);
    assert_memory_equal(data, back, SIZE);

    rewind(packed);
    assert_true(zstd_is_packed(packed));
    assert_int_equal(zstd_open_read(&file, "in", packed), 0);
    assert_int_equal(fread(back, 1, 2000000, file.stream), 2000000);
    rewind(file.stream);
    assert_int_equal(fread(back, 1, SIZE + 1, file.stream), SIZE);
    assert_memory_equal(data, back, SIZE);
    assert_int_equal(zstd_close(&file, 0), 0);
    fclose(packed);
    free(data);
    free(back);
}

/* The file of a line, with `size` of its bytes and bit `flip` (-1: none) the other way round. */
static int read_changed(const unsigned char *bytes, size_t size, int flip, char *back, size_t *got)
{
    FILE *packed = tmpfile();
    for (size_t i = 0; i < size; i++)
        fputc(flip >= 0 && i == (size_t)flip / 8 ? bytes[i] ^ 1 << flip % 8 : bytes[i], packed);
    int status = read_back(packed, back, 4096, got);
    fclose(packed);
    return status;
}

TEST(what_is_cut_or_damaged_is_an_error)
{
    static const char line[] =
        "{\"assay_ndjson\":1,\"table\":\"sample\",\"time_ns\":[12.5,12.5]}\n";
    unsigned char bytes[4096];
    char back[4096];
    FILE *packed = tmpfile();
    size_t got;
    write_frame(packed, line, sizeof line);
    rewind(packed);
    size_t size = fread(bytes, 1, sizeof bytes, packed);
    fclose(packed);
    assert_int_equal(read_changed(bytes, size, -1, back, &got), 0);
    for (size_t cut = 1; cut < size; cut++) {
        assert_int_equal(read_changed(bytes, cut, -1, back, &got), -1);
        assert_non_null(strstr(assay_last_error(), "cut short"));
    }
    /* A bit that changes nothing of the text is none that matters. */
    for (int flip = 0; flip < 8 * (int)size; flip++)
        if (read_changed(bytes, size, flip, back, &got) == 0)
            assert_true(got == sizeof line && memcmp(back, line, got) == 0);
}

TEST(a_full_disk_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    struct zstd_file file;
    if (!full) skip();
    setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(zstd_open_write(&file, "full", full), 0);
    fputs("text", file.stream);
    assert_int_equal(zstd_close(&file, 0), -1);
    assert_string_equal(assay_last_error(), "full: cannot be written: No space left on device");
    fclose(full);
}

TEST(the_name_and_the_content_tell)
{
    FILE *plain = tmpfile();
    assert_true(zstd_is_named("run.ndjson.zst"));
    assert_false(zstd_is_named("run.ndjson"));
    assert_false(zstd_is_named(".zst"));
    assert_false(zstd_is_packed(plain));
    fputs("{\"a\":1}", plain);
    rewind(plain);
    assert_false(zstd_is_packed(plain));
    assert_int_equal(fgetc(plain), '{'); /* it is rewound */
    fclose(plain);
}
