/* test_plot.c - how cases are named and chosen for a plot, its .tsv, and gnuplot's part. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "plot/plot_data.h"
#include "plot_fixture.h"

#define PLOT_TEST(name) TEST_WITH(name, NULL, release)

static char folder[] = "/tmp/assay-test-plot-XXXXXX";

/* ------------------------------------------------------------------- names -- */

static int no_buffers(const struct assay_shape *shape, struct assay_buffer out[])
{
    (void)shape, (void)out;
    return 0;
}

static const char *const choices[] = {"a", "b", NULL};
static const struct assay_operation op = {
    .name = "op",
    .summary = "nothing",
    .dims = {{.name = "n", .summary = "size"},
             {.name = "type", .summary = "no data", .choices = choices},
             {.name = "volume", .summary = "data", .choices = choices},
             {.name = "data", .summary = "data", .choices = choices}},
    .buffers = no_buffers,
    .data_dims = "volume data",
};
ASSAY_REGISTER_OPERATION(op);

static struct case_id id_of(const char *variant, const char *shape)
{
    struct case_id id = {.temperature = ASSAY_COLD};
    snprintf(id.operation, sizeof id.operation, "op");
    snprintf(id.variant, sizeof id.variant, "%s", variant);
    snprintf(id.shape, sizeof id.shape, "%s", shape);
    return id;
}

PLOT_TEST(names_are_what_the_cases_do_not_share)
{
    struct plot_common common = {0};
    struct case_id a = id_of("fast", "n=5 type=fp32"), b = id_of("slow", "n=50 type=fp32");
    char text[PLOT_MAX_COMMON], name[PLOT_MAX_NAME];
    plot_common_add(&common, &a);
    plot_common_add(&common, &b);
    plot_common_text(&common, text);
    assert_string_equal(text, "op type=fp32 cold");
    plot_common_rest(&common, &b, name);
    assert_string_equal(name, "slow n=50");
}

PLOT_TEST(a_task_is_the_sizes_and_the_data)
{
    char task[RESULT_MAX_SHAPE];
    struct case_id id =
        id_of("x", "rows=16 type=fp32 scale=1.5 columns=32 data=gaussian empty= dat=1.5");
    plot_task_of(&id, task);
    assert_string_equal(task, "rows=16 columns=32 data=gaussian");
    strcpy(id.operation, "of_another_program");
    plot_task_of(&id, task);
    assert_string_equal(task, id.shape);
    id = id_of("x", "");
    plot_task_of(&id, task);
    assert_string_equal(task, "");
}

/* Of a view of the fake run: pointers to all rows, and their number. */
static int all_rows(const struct view_row *rows[])
{
    assert_int_equal(view_make(&view, &fake.run), 0);
    for (int i = 0; i < view.count; i++)
        rows[i] = &view.rows[i];
    return view.count;
}

PLOT_TEST(the_task_of_most_rows_is_kept_or_the_larger)
{
    const struct view_row *rows[4];
    fake_begin(&fake, 1);
    sized("op", "type=a", 1000, "x", 1);
    sized("op", "type=a", 2000, "x", 1);
    sized("op", "type=b", 1000, "x", 1);
    sized("op", "type=b", 2000, "x", 1);
    assert_int_equal(plot_keep_task(rows, all_rows(rows)), 2);
    assert_string_equal(rows[0]->result.id.shape, "n=2000 type=a");
    assert_string_equal(rows[1]->result.id.shape, "n=2000 type=b");
    rows[0] = &view.rows[0];
    assert_int_equal(plot_keep_task(rows, 1), 1);
    assert_ptr_equal(rows[0], &view.rows[0]);
    assert_int_equal(plot_keep_task(rows, 0), 0);
}

PLOT_TEST(cases_on_different_data_are_different_tasks)
{
    const struct view_row *rows[4];
    fake_begin(&fake, 1);
    sized("op", "data=gaussian", 1000, "x", 1);
    sized("op", "data=gaussian", 1000, "y", 2);
    sized("op", "data=gaussian", 1000, "z", 2);
    fake.cases[2].result.id.temperature = ASSAY_HOT;
    sized("op", "data=extreme", 1000, "x", 3);
    assert_int_equal(plot_keep_task(rows, all_rows(rows)), 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(rows[i]->result.id.shape, "n=1000 data=gaussian");
        assert_int_equal(rows[i]->result.id.temperature, ASSAY_COLD);
    }
}

PLOT_TEST(a_case_alone_keeps_a_name)
{
    struct plot_common common = {0};
    struct case_id a = id_of("fast", "n=5");
    char name[PLOT_MAX_NAME];
    plot_common_add(&common, &a);
    plot_common_rest(&common, &a, name);
    assert_string_equal(name, "op/fast");
}

/* Keep the group of the request's rows. */
static int kept(const struct plot_request *request, double widest, const struct view_row *rows[])
{
    int count = 0;
    for (int i = 0; i < view.count; i++)
        if (plot_row_taken(request, &view.rows[i])) rows[count++] = &view.rows[i];
    return plot_keep_group(rows, count, widest);
}

PLOT_TEST(the_group_of_most_variants_is_kept_or_the_larger)
{
    struct plot_request request = {.run = &fake.run}, other = {.operation = "other"};
    const struct view_row *rows[16];
    make_run();
    assert_int_equal(view_make(&view, &fake.run), 0);
    assert_int_equal(kept(&request, INFINITY, rows), 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(rows[i]->result.id.shape, "n=4000000 input=fp32");
    assert_int_equal(kept(&other, INFINITY, rows), 1);
    other.cases = "nosuch/*";
    assert_int_equal(kept(&other, INFINITY, rows), 0);
}

PLOT_TEST(only_variants_near_the_fastest_count_where_asked)
{
    const struct view_row *rows[5];
    fake_begin(&fake, 1);
    sized("wide", "", 1000000, "a", 1000);
    sized("wide", "", 1000000, "b", 5000);
    sized("wide", "", 1000000, "c", 9000);
    sized("close", "", 1000000, "a", 1000);
    sized("close", "", 1000000, "b", 1100);
    assert_int_equal(plot_keep_group(rows, all_rows(rows), INFINITY), 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(rows[i]->result.id.operation, "wide");
    view_release(&view);
    assert_int_equal(plot_keep_group(rows, all_rows(rows), 1.6), 2);
    for (int i = 0; i < 2; i++)
        assert_string_equal(rows[i]->result.id.operation, "close");
}

/* -------------------------------------------------------------------- data -- */

static void written(const char *text, const char *expected)
{
    char *out;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    plot_text(stream, text);
    fclose(stream);
    assert_string_equal(out, expected);
    free(out);
}

PLOT_TEST(text_cannot_leave_its_field)
{
    written("plain_name", "plain_name");
    written("a\tb\nc", "a b c");
    written("say \"x\"", "say \xe2\x80\x9dx\xe2\x80\x9d");
    written("#1 and #2", "\xef\xbc\x83"
                         "1 and #2");
    written("a\\nb", "a\xe2\x88\x96nb");
    written("a\xff", "a?");
    written("", "\xe2\x90\xa3");
    written(" \t ", "\xe2\x90\xa3");
    written(" a b ", " a b ");
    written("100 % & <b> µ 'q' {x}_y", "100 % & <b> µ 'q' {x}_y");
}

static char *file_text(const char *path)
{
    static char text[16384];
    FILE *in = fopen(path, "r");
    if (!in) return NULL;
    size_t count = fread(text, 1, sizeof text - 1, in);
    text[count] = '\0';
    fclose(in);
    return text;
}

static char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static bool has_gnuplot(void)
{
    return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

/* The folder to run in has plots/; the makefile runs tests at the top. */
static void draw(const char *name, enum plot_outcome expected)
{
    char output[128];
    snprintf(output, sizeof output, "%s", in_folder(name));
    struct plot_request request = {.run = &fake.run, .output = output, .keep_script = true};
    enum plot_outcome outcome = plot_draw(plot_find("sweep"), &request);
    if (outcome != expected) fail_msg("outcome %d: %s", outcome, assay_last_error());
}

PLOT_TEST(data_and_script_are_kept_and_hold_every_point)
{
    if (!has_gnuplot()) skip();
    make_run();
    strcpy(fake.launches[0].device.name, "50% \"fast\" & <µ> 'GPU'");
    draw("sweep.svg", PLOT_DRAWN);
    char *tsv = file_text(in_folder("sweep.tsv"));
    assert_non_null(tsv);
    assert_non_null(strstr(tsv, "\ncopy\tbaseline\nfast\tkernel\nslow\tkernel\n"));
    assert_non_null(strstr(tsv, "v\t62914560\tL2: 60.0 MiB\n"));
    /* 5 MB in 1 us is 5 TB/s; the ends of the interval change places. */
    assert_non_null(strstr(tsv, "5000000\t5\t4.995005"));
    assert_non_null(file_text(in_folder("sweep.gp")));
}

PLOT_TEST(odd_names_reach_the_picture_as_they_are)
{
    if (!has_gnuplot()) skip();
    make_run();
    strcpy(fake.launches[0].device.name, "50% \"fast\" & <µ> 'GPU' a_b^{c}");
    draw("names.svg", PLOT_DRAWN);
    char command[256];
    snprintf(command, sizeof command,
             "grep -qF \"50%% \xe2\x80\x9d"
             "fast\xe2\x80\x9d &amp; &lt;µ> 'GPU' a_b^{c}\" %s",
             in_folder("names.svg"));
    assert_int_equal(system(command), 0);
}

PLOT_TEST(every_format_is_drawn)
{
    static const char *const names[] = {"a.svg", "a.png", "a.pdf"};
    struct stat status;
    if (!has_gnuplot()) skip();
    make_run();
    for (int i = 0; i < 3; i++) {
        draw(names[i], PLOT_DRAWN);
        assert_int_equal(stat(in_folder(names[i]), &status), 0);
        assert_true(status.st_size > 1000);
    }
}

PLOT_TEST(one_size_is_drawn_as_bars)
{
    if (!has_gnuplot()) skip();
    fake_begin(&fake, 1);
    fake_baseline(&fake, 0, "o", "n=5", "copy", 2000);
    fake_case(&fake, 0, "o", "n=5", "fast", 1000);
    draw("bars.svg", PLOT_DRAWN);
    assert_non_null(strstr(file_text(in_folder("bars.tsv")), "fast\tkernel\t1\t"));
}

PLOT_TEST(a_run_without_a_time_is_nothing_to_draw)
{
    fake_begin(&fake, 1);
    draw("none.svg", PLOT_NOTHING);
    assert_int_not_equal(access(in_folder("none.svg"), F_OK), 0);
}

PLOT_TEST(an_output_of_another_format_is_refused)
{
    make_run();
    draw("a.jpeg", PLOT_FAILED);
    assert_non_null(strstr(assay_last_error(), ".svg, .png or .pdf"));
}

PLOT_TEST(without_gnuplot_the_message_says_how_to_get_it)
{
    char *path = strdup(getenv("PATH"));
    make_run();
    setenv("PATH", "/nowhere", 1);
    draw("absent.svg", PLOT_FAILED);
    setenv("PATH", path, 1);
    assert_non_null(strstr(assay_last_error(), "apt-get install gnuplot-nox"));
    assert_int_not_equal(access(in_folder("absent.svg"), F_OK), 0);
    free(path);
}

PLOT_TEST(what_gnuplot_says_becomes_the_reason)
{
    char plots[128];
    if (!has_gnuplot()) skip();
    snprintf(plots, sizeof plots, "%s", in_folder("plots"));
    assert_int_equal(mkdir(plots, 0700), 0);
    FILE *script = fopen(in_folder("plots/sweep.gp"), "w");
    fputs("no such command\n", script);
    fclose(script);
    setenv("ASSAY_PLOTS", plots, 1);
    make_run();
    draw("broken.svg", PLOT_FAILED);
    setenv("ASSAY_PLOTS", "plots", 1);
    assert_non_null(strstr(assay_last_error(), "invalid command"));
}

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    setenv("ASSAY_PLOTS", "plots", 1); /* of the tree: the tests lie deeper than the program */
    return test_main(make_folder, remove_folder);
}
