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

/* The fact behind each term. */
static const struct {
    const char *member; /* in JSON */
    size_t at;          /* in struct account_facts */
} facts[ACCOUNT_TERMS] = {
    [TERM_LAUNCHES] = {"launches", offsetof(struct account_facts, launches)},
    [TERM_GAPS] = {"gaps_ns", offsetof(struct account_facts, gaps_ns)},
    [TERM_CLOCK] = {"sm_mhz", offsetof(struct account_facts, sm_mhz)},
    [TERM_BYTES] = {"bytes", offsetof(struct account_facts, bytes)},
    [TERM_INSTRUCTIONS] = {"instructions", offsetof(struct account_facts, instructions)},
    [TERM_WAITS] = {"issue_share", offsetof(struct account_facts, issue_share)},
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
    if (isnan(value)) {
        snprintf(out, CELL, "-");
        return;
    }
    switch (term) {
    case TERM_LAUNCHES:
        snprintf(out, CELL, "%.0f", value);
        break;
    case TERM_GAPS:
        snprintf(out, CELL, "%s", units_time(text, value));
        break;
    case TERM_CLOCK:
        snprintf(out, CELL, "%.0f MHz", value);
        break;
    case TERM_BYTES:
        counter_text(out, CELL, COUNTER_BYTES, value);
        break;
    case TERM_INSTRUCTIONS:
        snprintf(out, CELL, "%.4g", value);
        break;
    default:
        snprintf(out, CELL, "%s issued", units_percent(text, value));
        break;
    }
    const struct account_facts *counted = &one->facts[side];
    if (term == TERM_WAITS && !isnan(counted->bytes) && !isnan(counted->memory_share))
        text_add(out, CELL, ", ", "memory %s", units_percent(text, counted->memory_share));
    if (term == TERM_WAITS && one->wait[side].what[0])
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
    comparison_change_text(one->facts[1].time_ns / one->facts[0].time_ns, ratio);
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

/* A line of the account: term, time, share, fact of base and of candidate. */
enum { COLUMNS = 5 };
static const char *const headings[COLUMNS] = {"term", ">time", ">share", "base", "candidate"};

static void cells_of(const struct explained_case *one, int term, char cell[COLUMNS][CELL])
{
    bool is_term = term < ACCOUNT_TERMS;
    double ns = is_term ? one->account.term_ns[term] : one->account.unexplained_ns;
    snprintf(cell[0], CELL, "%s", is_term ? account_term_name(term) : "unexplained");
    change_text(ns, cell[1]);
    share_text(one, ns, cell[2]);
    cell[3][0] = cell[4][0] = '\0';
    for (int side = 0; side < 2 && is_term; side++)
        fact_text(one, side, term, cell[3 + side]);
}

/* Of several cases each has a line ahead of the accounts: the term that explains most of it. */
enum { SUMMARY = 5, SUMMARY_CELL = CASE_TEXT };
static const char *const summary_headings[SUMMARY] = {"case", ">change", "most of it by", ">share",
                                                      ">unexplained"};

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

static void summary_of(const struct explained_case *one, char cell[SUMMARY][SUMMARY_CELL])
{
    int most = main_term(one);
    case_text(&one->id, cell[0]);
    comparison_change_text(one->facts[1].time_ns / one->facts[0].time_ns, cell[1]);
    snprintf(cell[2], SUMMARY_CELL, "%s", most < 0 ? "-" : account_term_name(most));
    share_text(one, most < 0 ? NAN : one->account.term_ns[most], cell[3]);
    share_text(one, one->account.unexplained_ns, cell[4]);
}

/* ------------------------------------------------------------------- table -- */

static void write_head(FILE *out, const struct explanation *explanation)
{
    char text[WORDS_LINE];
    for (int i = 0; i < 2; i++) {
        side_text(&explanation->side[i], text);
        fprintf(out, "%-9s  %s\n", i == 0 ? "base" : "candidate", text);
    }
    if (explanation->difference[0]) fprintf(out, "not alike: %s\n", explanation->difference);
}

static int write_case_table(FILE *out, const struct explained_case *one, int width)
{
    char title[CASE_TEXT + 128], cell[COLUMNS][CELL];
    struct table table;
    title_of(one, title);
    fprintf(out, "\n%s\n", title);
    if (doubt_of(one)[0]) fprintf(out, "%s\n", doubt_of(one));
    table_init(&table, headings, COLUMNS);
    for (int term = 0; term <= ACCOUNT_TERMS; term++) {
        cells_of(one, term, cell);
        for (int c = 0; c < COLUMNS; c++)
            table_cell(&table, "%s", cell[c]);
    }
    int status = table_print(&table, out, width);
    table_release(&table);
    return status;
}

static int write_summary_table(FILE *out, const struct explanation *explanation)
{
    char cell[SUMMARY][SUMMARY_CELL];
    struct table table;
    table_init(&table, summary_headings, SUMMARY);
    for (int i = 0; i < explanation->count; i++) {
        summary_of(&explanation->cases[i], cell);
        for (int c = 0; c < SUMMARY; c++)
            table_cell(&table, "%s", cell[c]);
    }
    fputc('\n', out);
    int status = table_print(&table, out, terminal_columns());
    table_release(&table);
    return status;
}

static int write_table(FILE *out, const struct explanation *explanation)
{
    write_head(out, explanation);
    if (explanation->count > 1 && write_summary_table(out, explanation) != 0) return -1;
    for (int i = 0; i < explanation->count; i++)
        if (write_case_table(out, &explanation->cases[i], terminal_columns()) != 0) return -1;
    if (explanation->next[0])
        fprintf(out, "\nnot counted; with each build: %s\n", explanation->next);
    return 0;
}

/* ---------------------------------------------------------------- Markdown -- */

static void write_case_md(FILE *out, const struct explained_case *one)
{
    char title[CASE_TEXT + 128], cell[COLUMNS][CELL];
    title_of(one, title);
    md_print(out, "\n**%s**\n", title);
    if (doubt_of(one)[0]) fprintf(out, "\n%s\n", doubt_of(one));
    fputs("\n| term | time | share | base | candidate |\n|:--|--:|--:|:--|:--|\n", out);
    for (int term = 0; term <= ACCOUNT_TERMS; term++) {
        cells_of(one, term, cell);
        for (int c = 0; c < COLUMNS; c++)
            md_print(out, "| %s ", cell[c]);
        fputs("|\n", out);
    }
}

static void write_summary_md(FILE *out, const struct explanation *explanation)
{
    char cell[SUMMARY][SUMMARY_CELL];
    fputs("\n| case | change | most of it by | share | unexplained |\n|:--|--:|:--|--:|--:|\n",
          out);
    for (int i = 0; i < explanation->count; i++) {
        summary_of(&explanation->cases[i], cell);
        for (int c = 0; c < SUMMARY; c++)
            md_print(out, "| %s ", cell[c]);
        fputs("|\n", out);
    }
}

static int write_md(FILE *out, const struct explanation *explanation)
{
    char text[WORDS_LINE];
    for (int i = 0; i < 2; i++) {
        side_text(&explanation->side[i], text);
        md_print(out, i == 0 ? "Base: %s  \n" : "Candidate: %s  \n", text);
    }
    if (explanation->difference[0]) md_print(out, "Not alike: %s  \n", explanation->difference);
    if (explanation->count > 1) write_summary_md(out, explanation);
    for (int i = 0; i < explanation->count; i++)
        write_case_md(out, &explanation->cases[i]);
    if (explanation->next[0]) {
        fputs("\nNot counted; with each build: ", out);
        md_code(out, explanation->next);
        fputc('\n', out);
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
    return strcmp(format, "md") == 0 ? write_md(out, explanation) : write_table(out, explanation);
}
