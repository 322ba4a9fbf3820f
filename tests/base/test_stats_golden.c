/*
 * test_stats_golden.c - the statistics against NumPy and SciPy (golden/stats.tsv, made by
 * golden/make_stats.py).
 */
#include "series.h"

static const char *const golden_path = "tests/golden/stats.tsv";

static double next_number(char **fields)
{
    return strtod(strsep(fields, "\t"), NULL);
}

static int next_data(char **fields, double *values)
{
    int count = 0;
    char *data = strsep(fields, "\t");
    for (char *word; (word = strsep(&data, " "));) {
        assert_true(count < MOST_VALUES);
        values[count++] = strtod(word, NULL);
    }
    return count;
}

static void check_rank(char *fields, const char *line)
{
    int count = (int)next_number(&fields);
    double confidence = next_number(&fields);
    assert_near(stats_median_rank(count, confidence), next_number(&fields), line);
}

static void check_median(char *fields, const char *line)
{
    double values[MOST_VALUES], expected = next_number(&fields);
    int count = next_data(&fields, values);
    assert_near(stats_median(values, count), expected, line);
}

static void check_mad(char *fields, const char *line)
{
    double values[MOST_VALUES], expected = next_number(&fields);
    int count = next_data(&fields, values);
    assert_near(stats_mad(values, count), expected, line);
}

static void check_quantile(char *fields, const char *line)
{
    double values[MOST_VALUES], q = next_number(&fields), expected = next_number(&fields);
    int count = next_data(&fields, values);
    assert_near(stats_quantile_sorted(values, count, q), expected, line);
}

static void check_interval(char *fields, const char *line)
{
    double values[MOST_VALUES], confidence = next_number(&fields);
    double mid = next_number(&fields), lo = next_number(&fields), hi = next_number(&fields);
    int count = next_data(&fields, values);
    struct interval got = stats_median_interval(values, count, confidence);
    assert_near(got.mid, mid, line);
    assert_near(got.lo, lo, line);
    assert_near(got.hi, hi, line);
}

static void next_series(char **fields, struct series *series)
{
    series->count = 0;
    char *data = strsep(fields, "\t");
    for (char *word; (word = strsep(&data, " "));) {
        double time_ns;
        int round, mark;
        assert_int_equal(sscanf(word, "%lf:%d:%d", &time_ns, &round, &mark), 3);
        series_add(series, time_ns, round, mark);
    }
}

static void check_paired(char *fields, const char *line)
{
    static struct series base, candidate;
    double mid = next_number(&fields), lo = next_number(&fields), hi = next_number(&fields);
    next_series(&fields, &base);
    next_series(&fields, &candidate);
    struct interval got = ratio_of(&base, &candidate);
    assert_near(got.mid, mid, line);
    assert_near(got.lo, lo, line);
    assert_near(got.hi, hi, line);
}

/* Check every line of one kind; there must be some. */
static void check_golden(const char *kind, void (*check)(char *fields, const char *line))
{
    FILE *file = fopen(golden_path, "r");
    if (!file) fail_msg("%s: not there; run from the root of the repository", golden_path);
    char *line = NULL;
    size_t room = 0;
    int lines = 0;
    while (getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *copy = strdup(line), *fields = copy;
        if (strcmp(strsep(&fields, "\t"), kind) == 0) {
            check(fields, line);
            lines++;
        }
        free(copy);
    }
    free(line);
    fclose(file);
    assert_true(lines > 0);
}

TEST(ranks_are_those_of_scipy_up_to_a_million)
{
    check_golden("rank", check_rank);
}

TEST(medians_are_those_of_numpy)
{
    check_golden("median", check_median);
}

TEST(quantiles_are_those_of_numpy)
{
    check_golden("quantile", check_quantile);
}

TEST(intervals_are_those_of_scipy)
{
    check_golden("interval", check_interval);
}

TEST(deviations_are_those_of_scipy)
{
    check_golden("mad", check_mad);
}

TEST(paired_ratios_are_those_of_numpy_and_scipy)
{
    check_golden("paired", check_paired);
}
