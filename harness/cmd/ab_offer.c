#include "cmd/ab_offer.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/options.h"
#include "show/comparison_formats.h"
#include "store/store_central.h"

/* MOST_NAMED: more cases are not named one by one. */
enum { MOST_NAMED = 8, REVISION = 12 };

/* ------------------------------------------------------------------- cases -- */

static bool is_open(const struct comparison_row *row)
{
    bool weak = row->evidence == EVIDENCE_SAMPLES || row->evidence == EVIDENCE_RANGE;
    return weak && !(row->tags & TAG_ACK) &&
           (row->verdict == VERDICT_SUSPECT || row->verdict == VERDICT_INCONCLUSIVE ||
            (row->verdict == VERDICT_UNSTABLE && row->noisy[0]));
}

/* Where they are not named, all that was compared (`filter`; NULL: all) is measured again. */
static void count_open(struct ab_offer *offer, const struct comparison *comparison,
                       const char *filter)
{
    char name[CASE_TEXT];
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (!is_open(row)) continue;
        comparison_row_text(row, name);
        text_add(offer->filter, sizeof offer->filter, ",", "%s", name);
        offer->open++;
    }
    /* The ratio to a baseline needs the baseline's case as well. */
    bool by_time = strcmp(comparison->metric, "time") == 0;
    bool is_whole = strlen(offer->filter) + 1 < sizeof offer->filter;
    if (offer->open > MOST_NAMED || offer->open == comparison->count || !by_time || !is_whole)
        text_copy(offer->filter, sizeof offer->filter, filter ? filter : "");
}

/* ------------------------------------------------------------------- sides -- */

static bool is_known(const char *text)
{
    return text[0] && strcmp(text, "unknown") != 0;
}

static bool same_build(const char *commit, const char *changes, const struct comparison_side *side)
{
    return is_known(commit) && strcmp(changes, "unknown") != 0 &&
           strcmp(commit, side->commit) == 0 && strcmp(changes, side->diff_hash) == 0;
}

static void lack(struct ab_offer *offer, const char *word, const char *format, const char *text)
{
    text_add(offer->lacks, sizeof offer->lacks, "; ", "%s stands for ", word);
    text_add(offer->lacks, sizeof offer->lacks, "", format, text);
}

static void find_side(struct ab_offer *offer, int which, const struct comparison_side *side,
                      const char *itself)
{
    static const char *const words[] = {"BASE", "CAND"};
    struct program_info own;
    char sources[RESULT_MAX_PROPERTY + 64] = "sources of an unknown commit";
    provenance_program(&own);
    if (offer->of_objects && side->objects[0]) {
        text_copy(offer->side[which], sizeof offer->side[which], words[which]);
        lack(offer, words[which], "the shared object of the run: %s", side->objects);
        return;
    }
    if (same_build(own.commit, own.diff_hash, side)) {
        text_copy(offer->side[which], sizeof offer->side[which], itself);
    } else if (is_known(side->commit) && !side->diff_hash[0]) {
        snprintf(offer->side[which], sizeof offer->side[which], "%.*s", REVISION, side->commit);
    } else {
        if (is_known(side->commit))
            snprintf(sources, sizeof sources, "commit %.8s and changes that were not committed",
                     side->commit);
        text_copy(offer->side[which], sizeof offer->side[which], words[which]);
        lack(offer, words[which], "the program of the run, built from %s", sources);
    }
}

/* ------------------------------------------------------------------- offer -- */

static void find_open(struct ab_offer *offer, const struct comparison *comparison,
                      const char *filter, const char *itself)
{
    const struct comparison_side *sides[] = {&comparison->base, &comparison->candidate};
    *offer = (struct ab_offer){.simulated = sides[0]->simulated && sides[1]->simulated};
    bool same_device = strcmp(sides[0]->spec, sides[1]->spec) == 0;
    if (!suite_word_is_there(sides[0]) || !suite_word_is_there(sides[1])) return;
    if (!same_device && !offer->simulated) return;
    count_open(offer, comparison, filter);
    if (offer->open == 0) return;
    offer->of_objects = strcmp(sides[0]->objects, sides[1]->objects) != 0;
    offer->loads = sides[0]->objects[0] && !offer->of_objects;
    if (offer->loads)
        lack(offer, "FILE.so", "the shared object of both runs: %s", sides[0]->objects);
    for (int i = 0; i < 2; i++) {
        find_side(offer, i, sides[i], itself);
        text_copy(offer->own_device[i], sizeof offer->own_device[i], sides[i]->spec);
    }
    if (same_device) text_copy(offer->device, sizeof offer->device, sides[0]->spec);
    if (!suite_word_of(sides[1], offer->suite))
        lack(offer, offer->suite, "the file of the suite %s", sides[1]->suite);
    offer->one_build = same_device && !offer->of_objects &&
                       same_build(sides[0]->commit, sides[0]->diff_hash, sides[1]);
    if (offer->one_build)
        text_add(offer->lacks, sizeof offer->lacks, "; ",
                 "both runs are of one build, which has no other to be slower than: run it twice "
                 "and compare these, to see how far its runs differ");
}

static void add_word(char *line, size_t size, const char *option, const char *word)
{
    text_part(line, size, " ", "%s", option);
    text_add_word(line, size, word);
}

static void say(const struct ab_offer *offer, struct comparison *comparison,
                const struct compare_options *options, const char *db)
{
    char *line = comparison->next, number[32];
    size_t size = sizeof comparison->next;
    text_add(line, size, "", offer->one_build ? "assay run" : "assay ab");
    for (int i = 0; i < 2 && !offer->one_build; i++)
        add_word(line, size, "", offer->side[i]);
    add_word(line, size, "", offer->suite);
    if (offer->one_build) text_add(line, size, " ", "--launches 5");
    if (offer->device[0]) {
        add_word(line, size, "--device", offer->device);
    } else {
        add_word(line, size, "--base-device", offer->own_device[0]);
        add_word(line, size, "--cand-device", offer->own_device[1]);
    }
    if (offer->loads) text_add(line, size, " ", "--load FILE.so");
    bool is_ab = !offer->one_build;
    if (is_ab && offer->simulated) text_add(line, size, " ", "--allow-simulated");
    if (is_ab && options->speedup) text_add(line, size, " ", "--metric speedup");
    if (is_ab && options->threshold > 0) {
        snprintf(number, sizeof number, "%g", 100 * options->threshold);
        add_word(line, size, "--threshold", number);
    }
    if (offer->filter[0]) add_word(line, size, "--filter", offer->filter);
    if (strcmp(db, database_default(NULL)) != 0 && !store_is_url(db))
        add_word(line, size, "--db", db);
    text_copy(comparison->next_lacks, sizeof comparison->next_lacks, offer->lacks);
}

void ab_offer_make(struct ab_offer *offer, struct comparison *comparison,
                   const struct compare_options *options, const char *db)
{
    char itself[PATH_MAX];
    /* A module of Python has no file: the offer names the command. */
    if (program_itself(itself, sizeof itself) != 0) snprintf(itself, sizeof itself, "assay");
    find_open(offer, comparison, options->filter, itself);
    if (offer->open > 0) say(offer, comparison, options, db);
}
