/* test_sha256.c - the examples of FIPS 180-4 and the lengths at which the padding changes. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"
#include "base/sha256.h"

/* In two parts, so that blocks are put together. */
static void expect(const char *data, size_t bytes, const char *hash)
{
    char text[SHA256_TEXT];
    struct sha256 state;
    for (size_t cut = 0; cut <= bytes; cut += bytes / 3 + 1) {
        sha256_begin(&state);
        sha256_add(&state, data, cut);
        sha256_add(&state, data + cut, bytes - cut);
        sha256_end(&state, text);
        assert_string_equal(text, hash);
    }
}

TEST(examples_of_the_standard)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    expect("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(two_blocks, sizeof two_blocks - 1,
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

/* The hashes are those of sha256sum. */
TEST(lengths_around_a_block)
{
    static const struct {
        int bytes;
        const char *hash;
    } cases[] = {
        {55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
        {56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
        {63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
        {64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
        {65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
        {119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
        {120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"},
        {128, "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464"},
    };
    char data[256];
    memset(data, 'x', sizeof data);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(data, (size_t)cases[i].bytes, cases[i].hash);
}

TEST(a_file_of_many_pieces)
{
    char text[SHA256_TEXT];
    FILE *file = tmpfile();
    assert_non_null(file);
    for (int i = 0; i < 1000000; i++)
        fputc('a', file);
    fflush(file);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    assert_int_equal(sha256_file(fileno(file), text), 0);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    fclose(file);
    assert_int_equal(sha256_file(-1, text), -1);
}
