/* test_suite.c - what a suite file may say, and what each mistake is answered with. */
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "tests/fake_operations.h"
#include "suite/suite.h"
#include "suite/suite_check.h"
#include "suite/suite_file.h"
#include "suite/suite_value.h"
#include "tests/suite_folder.h"

static const struct suite_key *key_of(const struct suite *suite, int group, const char *name)
{
    const struct suite_key *key = suite_key_find(&suite->groups[group], name);
    assert_non_null(key);
    return key;
}

/* A file "x.ini" of this text is refused with this message. */
static void expect_error(const char *text, const char *message)
{
    struct suite suite;
    write_suite("x.ini", text);
    assay_clear_error();
    assert_int_equal(suite_read(&suite, "x.ini"), -1);
    assert_string_equal(assay_last_error(), message);
    assert_null(suite.groups);
    assert_null(suite.text);
}

/* The same for one key, on line 3, of a group of `scale`. */
static void expect_key_error(const char *line, const char *message)
{
    char text[512], whole[512];
    snprintf(text, sizeof text, "[group g]\noperation = scale\n%s\n", line);
    snprintf(whole, sizeof whole, "x.ini:3: %s", message);
    expect_error(text, whole);
}

/* ------------------------------------------------------------ right files -- */

TEST(keys_keep_their_values_and_lines)
{
    struct suite suite;
    const char *text = "\xef\xbb\xbf; a comment\r\n"
                       "[suite]\r\n"
                       "title = all of it ; said shortly\r\n"
                       "budget = 0.25\r\n"
                       "\r\n"
                       "[group seed sizes] # heading\r\n"
                       "operation = scale\r\n"
                       "n = 1, 2,   ; the small ones\r\n"
                       "    3       ; and three\r\n"
                       "input: bf16\r\n";
    write_suite("right.ini", text);
    assert_int_equal(suite_read(&suite, "right.ini"), 0);
    assert_string_equal(suite.name, "right");
    assert_string_equal(suite.file, "right.ini");
    assert_string_equal(suite.title, "all of it");
    assert_string_equal(suite.text, text);
    assert_float_equal(suite.budget_s, 0.25, 0);
    assert_float_equal(suite.precision_pct, 0.5, 0);
    assert_float_equal(suite.energy_s, 0, 0);
    assert_float_equal(suite.timeout_s, 60, 0);
    assert_int_equal(suite.group_count, 1);
    assert_string_equal(suite.groups[0].label, "seed sizes");
    assert_int_equal(suite.groups[0].line, 6);
    assert_int_equal(key_of(&suite, 0, "operation")->line, 7);
    assert_string_equal(key_of(&suite, 0, "input")->value, "bf16");
    assert_int_equal(key_of(&suite, 0, "input")->line, 10);

    struct suite_value *values;
    assert_int_equal(suite_values(&scale.dims[0], key_of(&suite, 0, "n")->value, &values), 3);
    assert_int_equal(values[2].value, 3);
    free(values);
    suite_release(&suite);
}

TEST(included_groups_come_first_and_keep_their_settings)
{
    struct suite suite;
    write_suite("inner.ini", "[suite]\nbudget = 2\n[group a]\noperation = scale\n"
                             "[group b]\noperation = scale\nbudget = 3\n");
    write_suite("outer.ini", "[suite]\nbudget = 1\ninclude = inner, ./inner.ini\n"
                             "[group c]\noperation = scale\n");
    assert_int_equal(suite_read(&suite, "outer"), 0);
    assert_int_equal(suite.group_count, 3);
    assert_string_equal(suite.groups[0].label, "a");
    assert_string_equal(key_of(&suite, 0, "budget")->value, "2");
    assert_string_equal(key_of(&suite, 1, "budget")->value, "3");
    assert_string_equal(suite.groups[2].label, "c");
    assert_string_equal(key_of(&suite, 2, "budget")->value, "1");
    assert_float_equal(suite.budget_s, 1, 0);
    assert_non_null(strstr(suite.text, "[group c]"));
    assert_non_null(strstr(suite.text, "; included: inner\n"));
    assert_non_null(strstr(suite.text, "[group b]"));
    suite_release(&suite);
}

TEST(suites_are_listed_sorted_and_found_by_name_or_path)
{
    struct suite suite;
    char(*names)[ASSAY_MAX_NAME], path[128];
    int count, found = 0;
    write_suite("zeta.ini", "[group a]\noperation = scale\n");
    write_suite("alpha.ini", "[group a]\noperation = scale\n");
    assert_int_equal(suite_names(&names, &count), 0);
    for (int i = 0; i < count; i++) {
        if (i) assert_true(strcmp(names[i - 1], names[i]) < 0);
        found += !strcmp(names[i], "zeta") || !strcmp(names[i], "alpha");
    }
    assert_int_equal(found, 2);
    free(names);
    snprintf(path, sizeof path, "%s/zeta.ini", suite_folder);
    const char *const specs[] = {"zeta", "zeta.ini", "./zeta.ini", path};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(suite_read(&suite, specs[i]), 0);
        assert_string_equal(suite.name, "zeta");
        suite_release(&suite);
    }
}

/* -------------------------------------------------------------- mistakes -- */

TEST(a_name_that_is_not_there_gets_a_suggestion)
{
    struct suite suite;
    write_suite("quantise.ini", "[group a]\noperation = scale\n");
    assert_int_equal(suite_read(&suite, "quantize"), -1);
    assert_string_equal(assay_last_error(),
                        "no suite is called 'quantize' (did you mean 'quantise'?)");
    assert_int_equal(suite_read(&suite, "./none.ini"), -1);
    assert_string_equal(assay_last_error(), "cannot read ./none.ini: No such file or directory");
    assert_int_equal(suite_read(&suite, "/tmp/"), -1);
    assert_string_equal(assay_last_error(), "cannot read /tmp/: Is a directory");
}

TEST(lines_that_are_no_ini_are_refused_with_their_line)
{
    expect_error("[suite]\ntitle\n",
                 "x.ini:2: neither 'key = value' nor a [section] nor a comment (; or #)");
    expect_error("; one\n[suite\n", "x.ini:2: a heading ends with ']'");
    expect_error("[suite] too\n", "x.ini:1: text after the heading's ']'");
    expect_error("[suite]\n  [group a]\n", "x.ini:2: a heading begins its line");
    expect_error("title = x\n", "x.ini:1: the key 'title' stands before any section");
    expect_error("[suite]\n= x\n", "x.ini:2: there is no key before the '='");
    expect_error("[suite]\n title = x\n",
                 "x.ini:2: an indented line continues the value above; keys begin a line");
    expect_error(" title = x\n",
                 "x.ini:1: an indented line continues the value above; keys begin a line");
    expect_error("[group a]\noperation = scale\n  n = 5\n",
                 "x.ini:3: an indented line continues the value above; keys begin a line");
}

TEST(a_line_longer_than_the_buffer_is_refused)
{
    char text[300];
    snprintf(text, sizeof text, "[suite]\n;%0*d\n[group a]\noperation = scale\n", 196, 0);
    write_suite("fits.ini", text);
    struct suite suite;
    assert_int_equal(suite_read(&suite, "fits.ini"), 0);
    suite_release(&suite);
    snprintf(text, sizeof text, "[suite]\n;%0*d\n", 197, 0);
    expect_error(text, "x.ini:2: the line is longer than 197 characters");
}

TEST(a_value_longer_than_its_room_is_refused)
{
    char text[2048] = "[group a]\noperation = scale\nn = 1,\n";
    /* 1 and a comma, then 153 characters of each line. */
    for (int i = 0; i < 7; i++)
        sprintf(text + strlen(text), "  %0*d,\n", 151, 1);
    expect_error(text, "x.ini:10: the value is longer than 999 characters");
}

TEST(a_file_that_is_not_text_is_refused)
{
    struct suite suite;
    write_bytes("x.ini", "[suite]\0\n", 9);
    assert_int_equal(suite_read(&suite, "x.ini"), -1);
    assert_string_equal(assay_last_error(), "x.ini: not a text file");
}

TEST(sections_have_known_names_once)
{
    expect_error("[sweet]\n", "x.ini:1: no section is called [sweet] (there are [suite], "
                              "[group LABEL], [claim ID], [bench NAME] and [kernel NAME])");
    expect_error("[group]\n", "x.ini:1: a group has a label: [group LABEL]");
    expect_error("[suite]\n[suite]\n", "x.ini:2: there is a [suite] already, at line 1");
    expect_error("[group a]\noperation = scale\n[group a]\n",
                 "x.ini:3: there is a [group a] already, at line 1");
    expect_error("[suite]\ntitle = x\n", "x.ini: there is no [group] in it");
    expect_error("[group a_label_of_more_than_forty_seven_characters_as_here]\n",
                 "x.ini:1: the label is longer than 47 characters");
}

TEST(keys_of_the_suite_are_known_and_in_range)
{
    expect_error("[suite]\nbuget = 1\n",
                 "x.ini:2: [suite] has no key 'buget' (did you mean 'budget'?)");
    expect_error("[suite]\ntitle = a\ntitle = b\n",
                 "x.ini:3: the key 'title' is there already, at line 2");
    expect_error("[suite]\nbudget = 0\n", "x.ini:2: budget = 0: not a number of seconds above 0 "
                                          "and at most 3600");
    expect_error("[suite]\nprecision = 1%\n",
                 "x.ini:2: precision = 1%: not a number of per cent above 0 and at most 100");
    expect_error("[suite]\nenergy = nan\n", "x.ini:2: energy = nan: not a number of seconds above "
                                            "0 and at most 3600, or 0");
}

TEST(a_group_needs_an_operation_that_exists)
{
    expect_error("\n[group a]\n", "x.ini:2: group 'a' has no operation");
    expect_error("[group a]\nn = 5\n", "x.ini:1: group 'a' has no operation");
    expect_error("[group a]\noperation = sclae\n",
                 "x.ini:2: no operation is called 'sclae' (did you mean 'scale'?)");
    expect_error("[group a]\noperation = lattice_encode\n",
                 "x.ini:2: no operation is called 'lattice_encode' (there are product, scale, "
                 "stream)");
}

TEST(keys_of_a_group_are_known)
{
    expect_key_error("inputs = fp32",
                     "scale has no dim 'inputs' (did you mean 'input'? its dims: n, input)");
    expect_key_error("temprature = hot", "scale has no dim 'temprature' (did you mean "
                                         "'temperature'? its dims: n, input)");
    expect_key_error("hidden = 4096", "scale has no dim 'hidden' (its dims: n, input)");
    expect_key_error("operation = scale", "the key 'operation' is there already, at line 2");
    expect_key_error("temperature = warm", "no temperature is called 'warm' (there are cold, hot)");
    expect_key_error("device = gpu", "device = gpu: a group is for 'cuda' or 'host'");
    expect_key_error("timeout = soon",
                     "timeout = soon: not a number of seconds above 0 and at most 86400");
    expect_key_error("variants = fst", "no variant of scale matches 'fst' (did you mean 'fast'?)");
    expect_key_error("variants = *, !wode",
                     "no variant of scale matches 'wode' (did you mean 'wide'?)");
    expect_key_error("baseline = lib*", "baseline = lib*: this is the name of one variant");
    expect_key_error("baseline = libary",
                     "no variant of scale matches 'libary' (did you mean 'library'?)");
}

TEST(values_of_a_size_are_sizes_in_range)
{
    expect_key_error("n =", "the list is empty");
    expect_key_error("n = 1,,2", "an item of the list is empty");
    expect_key_error("n = 0", "n = 0 is out of its range, 1 to 1000000000");
    expect_key_error("n = 2G", "n = 2000000000 is out of its range, 1 to 1000000000");
    expect_key_error("n = -5", "n: '-5' is not a size (500000, 500k, 2Mi, 1..8*2, l2, 2*vram are)");
    expect_key_error("n = vrm", "n: 'vrm' is not a size (did you mean 'vram'?)");
    expect_key_error("n = 0*l2",
                     "n: '0*l2' is not a size (500000, 500k, 2Mi, 1..8*2, l2, 2*vram are)");
    expect_key_error("n = 1..8", "n: the range '1..8' needs *FACTOR or +STEP at its end");
    expect_key_error("n = 8..1*2", "n: a range that ends (1) before it begins (8)");
    expect_key_error("n = 1..8*1", "n: '*1': a range's factor is a number above 1");
    expect_key_error("n = 1..8+0", "n: '+0': a range's step is a whole number above 0");
    expect_key_error("n = 0..8*2", "n: a range with a factor begins at 1 or above");
    expect_key_error("n = 1..1M+1", "n has more than 4096 values");
    expect_key_error("n = 64..1G*1.0000000001",
                     "n: a range's factor so near to 1 takes more than 409600 steps");
    expect_key_error("n = 1Mi..512Mi*9223372036854775807",
                     "n: '*9223372036854775807': no size is so many times another (the largest is "
                     "1000000000)");
    expect_key_error("n = 1..9223372036854775807*1000000000",
                     "n = 1000000000000000000 is out of its range, 1 to 1000000000");
    expect_key_error("n = 1..9223372036854775807+9223372036854775806",
                     "n = 9223372036854775807 is out of its range, 1 to 1000000000");
    expect_key_error("n = 1G..4G*2", "n = 2000000000 is out of its range, 1 to 1000000000");
}

TEST(values_of_a_choice_are_its_choices)
{
    expect_key_error("input = fp23", "input has no choice 'fp23' (did you mean 'fp32'?)");
    expect_key_error("input = anything", "input has no choice 'anything' (it has fp32, bf16)");
}

TEST(only_one_dim_of_a_group_has_a_size_class)
{
    expect_error("[group a]\noperation = product\nm = l2\nk = vram\n",
                 "x.ini:4: k: only one dim of a group can have a size class");
}

TEST(an_include_that_loops_or_is_unknown_is_refused)
{
    write_suite("loop.ini", "[suite]\ninclude = x\n");
    expect_error("[suite]\n\ninclude = loop\n", "loop.ini:2: including 'x' leads back to itself");
    expect_error("[suite]\ninclude = x\n", "x.ini:2: including 'x' leads back to itself");
    expect_error("[suite]\ninclude = looop\n",
                 "x.ini:2: no suite is called 'looop' (did you mean 'loop'?)");
    write_suite("broken.ini", "[group a]\noperation = nothing_like_it\n");
    expect_error("[suite]\ninclude = broken.ini\n",
                 "broken.ini:2: no operation is called 'nothing_like_it' (there are product, "
                 "scale, stream)");
}

/* ---------------------------------------------------------------- values -- */

static void expect_values(const char *list, int count, const int64_t *expected)
{
    struct suite_value *values;
    assert_int_equal(suite_values(&scale.dims[0], list, &values), count);
    for (int i = 0; i < count; i++) {
        assert_null(values[i].class_name);
        assert_int_equal(values[i].value, expected[i]);
    }
    free(values);
}

TEST(ranges_hold_their_first_value_and_none_above_the_last)
{
    expect_values("1..16384*4", 8, (int64_t[]){1, 4, 16, 64, 256, 1024, 4096, 16384});
    expect_values("1M .. 9M * 2", 4, (int64_t[]){1000000, 2000000, 4000000, 8000000});
    expect_values("1..10*1.5", 5, (int64_t[]){1, 2, 3, 5, 8} /* 1 1.5 2.25 3.4 5.1 7.6 */);
    expect_values("10..30+10, 7", 4, (int64_t[]){10, 20, 30, 7});
    expect_values("5..5*2", 1, (int64_t[]){5});
    expect_values("5..6*1000000000", 1, (int64_t[]){5});
    expect_values("1..4*1.0001", 4, (int64_t[]){1, 2, 3, 4});
}

TEST(a_value_that_is_named_twice_is_one)
{
    struct suite_value *values;
    expect_values("8, 4, 8, 4..8+2, 8", 3, (int64_t[]){8, 4, 6});
    assert_int_equal(suite_values(&scale.dims[0], "l2, 2*l2, l2, 1*l2", &values), 2);
    free(values);
    assert_int_equal(suite_values(&scale.dims[1], "bf16, *, bf16", &values), 2);
    free(values);
}

TEST(classes_may_have_a_factor)
{
    struct suite_value *values;
    assert_int_equal(suite_values(&scale.dims[0], "l2, 2*l2, 0.5 * vram", &values), 3);
    assert_string_equal(values[0].class_name, "l2");
    assert_float_equal(values[0].times, 1, 0);
    assert_float_equal(values[1].times, 2, 0);
    assert_string_equal(values[2].class_name, "vram");
    assert_float_equal(values[2].times, 0.5, 0);
    free(values);
}

TEST(a_star_stands_for_every_choice)
{
    struct suite_value *values;
    assert_int_equal(suite_values(&scale.dims[1], "*", &values), 2);
    assert_int_equal(values[1].value, 1);
    free(values);
}

TEST(globs_choose_in_turn)
{
    assert_true(suite_chooses("*", "fast"));
    assert_true(suite_chooses("f*, wide", "fast"));
    assert_false(suite_chooses("f*, wide", "plain"));
    assert_false(suite_chooses("*, !f*", "fast"));
    assert_true(suite_chooses("*, !f*, fast", "fast"));
    assert_true(suite_chooses("!wide", "fast"));
    assert_false(suite_chooses("!wide", "wide"));
}

int main(void)
{
    return test_main(enter_suite_folder, leave_suite_folder);
}
