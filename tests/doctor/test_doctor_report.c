/* test_doctor_report.c - how the doctor tells what it found. */
#include "doctor_fixture.h"

/* What a machine with every complaint there is looks like. */
static struct doctor_facts ailing(void)
{
    struct doctor_facts facts = healthy();
    facts.gpu.info.clock = CLOCK_EVENT;
    strcpy(facts.gpu.info.lost,
           "kernel timestamps (CUPTI): CUPTI is refused to this user (the driver's option "
           "NVreg_RestrictProfilingToAdminUsers)\n"
           "hardware counters: a profile needs CUPTI's kernel records, which are not to be had "
           "here");
    facts.gpu.info.library[0] = facts.host.info.library[0] = '\0';
    facts.gpu.info.ecc = 0;
    facts.gpu.info.mig = 1;
    facts.state.clock_reasons = 0x1ff;
    facts.persistence = 0;
    facts.gpu_processes = 3;
    facts.governor[0] = facts.gnuplot[0] = '\0';
    facts.turbo = 1;
    facts.cores = 1;
    facts.load = 9;
    facts.free_bytes = 1e6;
    facts.has_nvtx = false;
    memset(facts.database, 'x', 250); /* no blank to break at */
    strcpy(facts.shared_disk, "NFS");
    return facts;
}

enum { WIDTH = 80 };

static char *text_of(const struct doctor_facts *facts, bool as_json)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    int count = doctor_judge(facts, all);
    if (as_json)
        assert_int_equal(doctor_write_json(out, facts, all, count), 0);
    else
        doctor_write_table(out, facts, all, count, WIDTH);
    fclose(out);
    return text;
}

TEST(the_table_keeps_to_its_width)
{
    struct doctor_facts facts = ailing();
    char *text = text_of(&facts, false);
    for (const char *line = text; *line; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        assert_in_range(length, 0, WIDTH);
        line += length;
    }
    free(text);
}

TEST(the_table_ends_with_what_can_be_measured)
{
    struct doctor_facts facts = healthy();
    char *text = text_of(&facts, false);
    assert_non_null(strstr(text, "\nCan be measured: cuda:0, host\n"));
    free(text);
    facts.gpu.is_open = facts.host.is_open = false;
    text = text_of(&facts, false);
    assert_non_null(strstr(text, "\nCan be measured: nothing\n"));
    free(text);
}

TEST(json_has_every_check_and_null_where_there_is_nothing_to_say)
{
    struct doctor_facts facts = healthy();
    char *text = text_of(&facts, true);
    assert_non_null(strstr(text, "\"assay\": \"1.0\""));
    assert_non_null(strstr(text, "\"format\": 1"));
    assert_non_null(strstr(text, "\"exit\": 0"));
    assert_non_null(strstr(text, "\"device\": \"cuda:0\""));
    assert_non_null(strstr(text, "\"clock\": \"cupti\""));
    assert_non_null(strstr(text, "\"name\": \"kernel timestamps\""));
    assert_non_null(strstr(text, "\"remedy\": null"));
    free(text);
}
