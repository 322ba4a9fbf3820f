/* explanation_show.c - an explanation as a table, as Markdown and as one JSON document. The names
 * in JSON are a public contract: format 1 may gain members but never loses or changes one. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/json.h"
#include "base/markup.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "device/counter_sets.h"
#include "show/comparison_formats.h"
#include "show/explanation.h"
#include "show/show.h"

/* ------------------------------------------------------------------- texts -- */

static const struct {
    const char *member; /* in JSON */
    size_t at;          /* in struct account_facts */
    const char *format; /* of the figure; NULL: of its text in a unit */
} facts[ACCOUNT_TERMS] = {
    [TERM_LAUNCHES] = {"launches", offsetof(struct account_facts, launches), "%.0f"},
    [TERM_GAPS] = {"gaps_ns", offsetof(struct account_facts, gaps_ns), NULL},
    [TERM_CLOCK] = {"sm_mhz", offsetof(struct account_facts, sm_mhz), "%.0f MHz"},
    [TERM_BYTES] = {"bytes", offsetof(struct account_facts, bytes), NULL},
    [TERM_INSTRUCTIONS] = {"instructions", offsetof(struct account_facts, instructions), "%.4g"},
    [TERM_WAITS] = {"issue_share", offsetof(struct account_facts, issue_share), NULL},
};

static double fact(const struct explained_case *one, int side, int term)
{
    return *(const double *)((const char *)&one->facts[side] + facts[term].at);
}

enum { CELL = 96 };

/* "1980 MHz", "39.0 % issued, memory 34.4 %, barrier 2.1 cycles". */
static void fact_text(const struct explained_case *one, int side, int term, char out[CELL])
{
    double value = fact(one, side, term);
    char text[UNITS_MAX];
    if (isnan(value))
        snprintf(out, CELL, "-");
    else if (facts[term].format)
        snprintf(out, CELL, facts[term].format, value);
    else if (term == TERM_GAPS)
        units_time(out, value);
    else if (term == TERM_BYTES)
        counter_text(out, CELL, COUNTER_BYTES, value);
    else
        snprintf(out, CELL, "%s issued", units_percent(text, value));
    const struct account_facts *counted = &one->facts[side];
    if (isnan(value) || term != TERM_WAITS) return;
    if (!isnan(counted->bytes) && !isnan(counted->memory_share))
        text_add(out, CELL, ", ", "memory %s", units_percent(text, counted->memory_share));
    if (one->wait[side].what[0])
        text_add(out, CELL, ", ", "%s %.1f cycles", one->wait[side].what, one->wait[side].cycles);
}

/* What is less is left of the arithmetic. */
static const double LEAST_NS = 1e-3;

/* "+0.80 us"; "-" where it is not known. */
static const char *change_text(double ns, char out[UNITS_MAX])
{
    char text[UNITS_MAX];
    if (isnan(ns))
        snprintf(out, UNITS_MAX, "-");
    else if (fabs(ns) < LEAST_NS)
        snprintf(out, UNITS_MAX, "0 ns");
    else
        snprintf(out, UNITS_MAX, "%c%s", ns < 0 ? '-' : '+', units_time(text, fabs(ns)));
    return out;
}

static double share_of(const struct explained_case *one, double ns)
{
    double whole = one->account.difference_ns;
    return whole != 0 ? ns / whole : NAN;
}

static const char *share_text(const struct explained_case *one, double ns, char out[UNITS_MAX])
{
    double share = share_of(one, ns);
    if (isnan(share))
        snprintf(out, UNITS_MAX, "-");
    else
        snprintf(out, UNITS_MAX, "%.0f %%", round(100 * share) + 0.0); /* no "-0" */
    return out;
}

/* "int8_quantize/best n=5000000 cold: 12.3 us to 13.1 us, +0.80 us (+6.5 %)". */
static void title_of(const struct explained_case *one, char out[CASE_TEXT + 128])
{
    char name[CASE_TEXT], before[UNITS_MAX], after[UNITS_MAX], change[UNITS_MAX], ratio[UNITS_MAX];
    case_text(&one->id, name);
    comparison_change_text(one->facts[1].time_ns / one->facts[0].time_ns, 1, ratio);
    snprintf(out, CASE_TEXT + 128, "%s: %s to %s, %s (%s)", name,
             units_time(before, one->facts[0].time_ns), units_time(after, one->facts[1].time_ns),
             change_text(one->account.difference_ns, change), ratio);
}

/* What is to be known before the terms are believed; "" nothing. */
static const char *doubt_of(const struct explained_case *one)
{
    bool is_known = false;
    for (int i = 0; i < ACCOUNT_TERMS; i++)
        is_known |= !isnan(one->account.term_ns[i]);
    if (!is_known)
        return "only the times are stored: launches, clocks and counters are those of a GPU";
    bool overlap = one->lo_ns[1] <= one->hi_ns[0] && one->lo_ns[0] <= one->hi_ns[1];
    return overlap ? "the intervals of the two times overlap: there may be no difference" : "";
}

static const char *const headings[] = {"term", ">time", ">share", "base", "candidate"};
enum { COLUMNS = sizeof headings / sizeof *headings };

static void add_term(struct table *table, const struct explained_case *one, int term)
{
    bool is_term = term < ACCOUNT_TERMS;
    double ns = is_term ? one->account.term_ns[term] : one->account.unexplained_ns;
    char text[UNITS_MAX], of_side[CELL] = "";
    table_cell(table, "%s", is_term ? account_term_name(term) : "unexplained");
    table_cell(table, "%s", change_text(ns, text));
    table_cell(table, "%s", share_text(one, ns, text));
    for (int side = 0; side < 2; side++) {
        if (is_term) fact_text(one, side, term, of_side);
        table_cell(table, "%s", of_side);
    }
}

/* Of several cases each has a line ahead of the accounts: the term that explains most of it. */
static const char *const summary_headings[] = {"case", ">change", "most of it by", ">share",
                                               ">unexplained"};
enum { SUMMARY = sizeof summary_headings / sizeof *summary_headings };

/* That makes the candidate slower where it is slower, else faster; -1: none. */
static int main_term(const struct explained_case *one)
{
    int most = -1;
    for (int i = 0; i < ACCOUNT_TERMS; i++) {
        double share = share_of(one, one->account.term_ns[i]);
        double least = most < 0 ? 0 : share_of(one, one->account.term_ns[most]);
        if (share > least) most = i;
    }
    return most;
}

static void add_summary(struct table *table, const struct explained_case *one)
{
    int most = main_term(one);
    char name[CASE_TEXT], text[UNITS_MAX];
    case_text(&one->id, name);
    comparison_change_text(one->facts[1].time_ns / one->facts[0].time_ns, 1, text);
    table_cell(table, "%s", name);
    table_cell(table, "%s", text);
    table_cell(table, "%s", most < 0 ? "-" : account_term_name(most));
    table_cell(table, "%s", share_text(one, most < 0 ? NAN : one->account.term_ns[most], text));
    table_cell(table, "%s", share_text(one, one->account.unexplained_ns, text));
}

/* ------------------------------------------------------ table and Markdown -- */

static void write_head(FILE *out, const struct explanation *explanation, bool is_md)
{
    char text[WORDS_LINE];
    for (int i = 0; i < 2; i++) {
        side_text(&explanation->side[i], text);
        if (is_md)
            md_print(out, i == 0 ? "Base: %s  \n" : "Candidate: %s  \n", text);
        else
            fprintf(out, "%-9s  %s\n", i == 0 ? "base" : "candidate", text);
    }
    if (!explanation->difference[0]) return;
    if (is_md)
        md_print(out, "Not alike: %s  \n", explanation->difference);
    else
        fprintf(out, "not alike: %s\n", explanation->difference);
}

static int write_summary(FILE *out, const struct explanation *explanation, bool is_md)
{
    struct table table;
    table_init(&table, summary_headings, SUMMARY);
    table.is_md = is_md;
    for (int i = 0; i < explanation->count; i++)
        add_summary(&table, &explanation->cases[i]);
    fputc('\n', out);
    return table_print(&table, out, terminal_columns());
}

static int write_case(FILE *out, const struct explained_case *one, bool is_md)
{
    char title[CASE_TEXT + 128];
    const char *doubt = doubt_of(one);
    struct table table;
    title_of(one, title);
    if (is_md)
        md_print(out, "\n**%s**\n\n", title);
    else
        fprintf(out, "\n%s\n", title);
    if (doubt[0]) fprintf(out, is_md ? "%s\n\n" : "%s\n", doubt);
    table_init(&table, headings, COLUMNS);
    table.is_md = is_md;
    for (int term = 0; term <= ACCOUNT_TERMS; term++)
        add_term(&table, one, term);
    return table_print(&table, out, terminal_columns());
}

static int write_text(FILE *out, const struct explanation *explanation, bool is_md)
{
    write_head(out, explanation, is_md);
    if (explanation->count > 1 && write_summary(out, explanation, is_md) != 0) return -1;
    for (int i = 0; i < explanation->count; i++)
        if (write_case(out, &explanation->cases[i], is_md) != 0) return -1;
    if (!explanation->next[0]) return 0;
    if (is_md) {
        fputs("\nNot counted; with each build: ", out);
        md_code(out, explanation->next);
        fputc('\n', out);
    } else {
        fprintf(out, "\nnot counted; with each build: %s\n", explanation->next);
    }
    return 0;
}

/* -------------------------------------------------------------------- JSON -- */

static void term_object(struct json *json, const struct explained_case *one, int term)
{
    double ns = one->account.term_ns[term];
    json_begin_object(json);
    json_text_member(json, "term", account_term_name(term));
    json_number_member(json, "time_ns", ns);
    json_number_member(json, "share", share_of(one, ns));
    json_text_member(json, "of", facts[term].member);
    json_number_member(json, "base", fact(one, 0, term));
    json_number_member(json, "candidate", fact(one, 1, term));
    json_end(json);
}

static void row_object(struct json *json, const struct explained_case *one)
{
    double unexplained_ns = one->account.unexplained_ns;
    json_begin_object(json);
    show_json_case(json, &one->id);
    json_number_member(json, "base_ns", one->facts[0].time_ns);
    json_number_member(json, "candidate_ns", one->facts[1].time_ns);
    json_number_member(json, "difference_ns", one->account.difference_ns);
    json_known_member(json, "doubt", doubt_of(one));
    json_array_member(json, "terms");
    for (int term = 0; term < ACCOUNT_TERMS; term++)
        term_object(json, one, term);
    json_end(json);
    json_number_member(json, "unexplained_ns", unexplained_ns);
    json_number_member(json, "unexplained_share", share_of(one, unexplained_ns));
    json_end(json);
}

static int write_json(FILE *out, const struct explanation *explanation)
{
    struct json json;
    show_json_begin(&json, out);
    comparison_side_member(&json, "base", &explanation->side[0]);
    comparison_side_member(&json, "candidate", &explanation->side[1]);
    json_known_member(&json, "difference", explanation->difference);
    json_known_member(&json, "next", explanation->next);
    json_array_member(&json, "rows");
    for (int i = 0; i < explanation->count; i++)
        row_object(&json, &explanation->cases[i]);
    return json_finish(&json);
}

int explanation_write(FILE *out, const struct explanation *explanation, const char *format)
{
    if (strcmp(format, "json") == 0) return write_json(out, explanation);
    return write_text(out, explanation, strcmp(format, "md") == 0);
}
