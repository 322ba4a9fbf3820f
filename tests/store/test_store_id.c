/* test_store_id.c - the rules of ids. */
#include <string.h>

#include "tests/test.h"
#include "store/store_id.h"

TEST(hash_is_fnv_1a_of_128_bits)
{
    static const struct {
        const char *text, *hash;
    } published[] = {
        {"", "6c62272e07bb014262b821756295c58d"},
        {"a", "d228cb696f1a8caf78912b704e4a8964"},
        {"foobar", "343e1662793c64bf6f0d3597ba446f18"},
    };
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        struct id_hash hash;
        char id[ID_SIZE];
        id_hash_begin(&hash);
        id_hash_bytes(&hash, published[i].text, strlen(published[i].text));
        id_hash_end(&hash, id);
        assert_string_equal(id, published[i].hash);
    }
}

TEST(hash_tells_where_one_text_ends_and_the_next_begins)
{
    struct id_hash one, other;
    char a[ID_SIZE], b[ID_SIZE];
    id_hash_begin(&one);
    id_hash_text(&one, "ab");
    id_hash_text(&one, "c");
    id_hash_end(&one, a);
    id_hash_begin(&other);
    id_hash_text(&other, "a");
    id_hash_text(&other, "bc");
    id_hash_end(&other, b);
    assert_string_not_equal(a, b);
}

TEST(random_ids_are_32_hex_digits_and_differ)
{
    char a[ID_SIZE], b[ID_SIZE];
    assert_int_equal(id_random(a), 0);
    assert_int_equal(id_random(b), 0);
    assert_int_equal(strspn(a, "0123456789abcdef"), 32);
    assert_int_equal(strlen(a), 32);
    assert_string_not_equal(a, b);
}
