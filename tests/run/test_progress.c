/* test_progress.c - the bar, and the lines in its place. */
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "run/progress.h"

static char *said;
static size_t said_size;
static FILE *out;

static void begin(struct progress *progress, int groups, int cases)
{
    out = open_memstream(&said, &said_size);
    assert_non_null(out);
    progress_begin(progress, out, groups, cases);
}

static void end(struct progress *progress)
{
    progress_end(progress);
    fclose(out);
}

static int count(const char *text, const char *part)
{
    int found = 0;
    for (; (text = strstr(text, part)); text++)
        found++;
    return found;
}

TEST(off_a_terminal_a_group_is_one_line)
{
    struct progress progress;
    begin(&progress, 17, 3);
    progress_group(&progress, "int8_quantize n=5000000 input=fp32 cold");
    progress_step(&progress, "rcp4_fma: check");
    progress_case(&progress, "rcp4_fma", STATUS_OK, "");
    progress_case(&progress, "rcp16", STATUS_OK, "");
    progress_case(&progress, "rcp8", STATUS_SKIPPED, "needs sm_90");
    progress_group_end(&progress, "", 0.314);
    end(&progress);
    assert_string_equal(
        said, "[1/17] int8_quantize n=5000000 input=fp32 cold: 2 ok, 1 skipped, 0.31 s\n");
    free(said);
}

TEST(counts_begin_anew_with_each_group)
{
    struct progress progress;
    begin(&progress, 2, 2);
    for (int i = 0; i < 2; i++) {
        progress_group(&progress, "o n=1 cold");
        progress_case(&progress, "a", STATUS_OK, "");
        progress_group_end(&progress, "", 1);
    }
    end(&progress);
    assert_non_null(strstr(said, "[2/2] o n=1 cold: 1 ok, 1.00 s\n"));
    free(said);
}

TEST(a_group_without_a_case_says_why)
{
    struct progress progress;
    begin(&progress, 2, 2);
    progress_group(&progress, "o n=1 cold");
    progress_group_end(&progress, "measured before", 0);
    end(&progress);
    assert_string_equal(said, "[1/2] o n=1 cold: measured before, 0.00 s\n");
    free(said);
}

TEST(a_case_that_is_not_fine_is_said_at_once)
{
    struct progress progress;
    begin(&progress, 1, 1);
    progress_group(&progress, "o n=1 cold");
    progress_case(&progress, "o/bad n=1 cold", STATUS_WRONG, "element 7");
    end(&progress);
    assert_string_equal(said, "o/bad n=1 cold: wrong: element 7\n");
    free(said);
}

TEST(a_bad_case_erases_the_bar_and_comes_above_it)
{
    struct progress progress;
    begin(&progress, 1, 1);
    progress.terminal = true;
    progress_group(&progress, "o n=1 cold");
    progress_case(&progress, "o/bad n=1 cold", STATUS_WRONG, "element 7");
    end(&progress);
    assert_non_null(strstr(said, "\r\033[Ko/bad n=1 cold: wrong: element 7\n\r["));
    assert_string_equal(said + strlen(said) - strlen("\r\033[K"), "\r\033[K");
    free(said);
}

TEST(the_bar_is_drawn_at_most_five_times_a_second)
{
    struct progress progress;
    begin(&progress, 1, 100);
    progress.terminal = true;
    progress_group(&progress, "o n=1 cold");
    double first = progress.drawn_s;
    for (int i = 0; i < 50; i++) {
        progress_step(&progress, "a: block");
        assert_true(progress.drawn_s == first || progress.drawn_s - first >= 0.2);
        first = progress.drawn_s;
    }
    progress.drawn_s -= 0.25; /* as if it had been drawn then */
    int before = (fflush(out), count(said, "\r["));
    progress_step(&progress, "b: block");
    fflush(out);
    assert_int_equal(count(said, "\r["), before + 1);
    end(&progress);
    free(said);
}

TEST(bar_shows_case_count_and_time_left)
{
    char line[PROGRESS_LINE];
    struct progress progress = {.groups = 4, .group = 2, .cases = 40, .done = 10};
    progress.started_s = 100;
    strcpy(progress.text, "o n=1 cold");
    strcpy(progress.step, "a: block");
    progress_line(&progress, 125, 200, line); /* 10 in 25 s: 30 in 75 s */
    assert_string_equal(line, "[#####...............] 10/40  1:15 left  o n=1 cold  a: block");
}

TEST(bar_promises_no_time_before_a_group_is_done)
{
    char line[PROGRESS_LINE];
    struct progress progress = {.groups = 4, .group = 1, .cases = 40, .done = 10};
    progress_line(&progress, 125, 200, line);
    assert_null(strstr(line, "left"));
}

TEST(bar_never_reaches_the_last_column)
{
    char line[PROGRESS_LINE];
    struct progress progress = {.groups = 4, .group = 2, .cases = 40, .done = 41};
    memset(progress.text, 'x', sizeof progress.text - 1);
    for (int columns = 2; columns < 120; columns++) {
        progress_line(&progress, 125, columns, line);
        assert_int_equal(strlen(line), columns - 1);
    }
}
