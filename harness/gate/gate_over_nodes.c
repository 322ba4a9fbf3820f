#include "gate/gate_over_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/text.h"
#include "store/store_central.h"

/* "node4 GPU-1a: its gate did not end"; an error of the store names its file itself. */
static void lose(struct over *over, const char *name, const char *why)
{
    over->lost_count++;
    text_add(over->lost, sizeof over->lost, "; ", "%.60s%s%.180s", name, *name ? ": " : "", why);
}

void over_name(const struct gate_node *node, char out[2 * RESULT_MAX_PROPERTY])
{
    snprintf(out, 2 * RESULT_MAX_PROPERTY, "%s%s%s", node->host, node->host[0] ? " " : "",
             node->card);
}

static void lose_node(struct over *over, const struct gate_node *node, const char *why)
{
    char name[2 * RESULT_MAX_PROPERTY];
    over_name(node, name);
    lose(over, name, why);
}

static void release(struct member *member)
{
    for (int arm = 0; arm < ARMS; arm++)
        timings_release(&member->run.pool[arm]);
    free(member->rows);
    *member = (struct member){0};
}

/* Both launches of a round. 1: they are there, 0: not, -1 with assay_error. */
static int read_round(struct member *member, struct store *store, int round)
{
    struct timings launch[2] = {0};
    int found = 1;
    for (enum arm arm = ARM_BASE; arm <= ARM_CANDIDATE && found == 1; arm++) {
        char label[GATE_LABEL], id[STORE_ID];
        gate_label(&member->run, arm, round, label);
        found = store_find_label(store, label, id);
        if (found == 1 && store_read_timings(store, id, &launch[arm]) != 0) found = -1;
    }
    for (int arm = 0; arm < 2; arm++) {
        if (found == 1 && timings_append(&member->run.pool[arm], &launch[arm]) != 0) found = -1;
        timings_release(&launch[arm]);
    }
    return found;
}

static int read_member(struct over *over, struct member *member)
{
    static const struct gate_options no_null = {0};
    int found = 1;
    member->run.options = &no_null;
    member->run.compare.speedup = over->options->speedup;
    snprintf(member->run.session, sizeof member->run.session, "%s", member->about.session);
    for (int round = 0; round < GATE_SCREEN_ROUNDS && found == 1; round++)
        found = read_round(member, over->store, round);
    if (found < 0) return -1;
    return store_read_verdicts(over->store, member->about.gate, &member->rows, &member->count);
}

bool over_has_rounds(const struct member *member)
{
    return member->run.pool[ARM_CANDIDATE].run.launch_count >= GATE_LEAST_ROUNDS;
}

static bool is_proven(const struct member *member)
{
    for (int i = 0; i < member->count; i++)
        if (member->rows[i].verdict != VERDICT_UNCHANGED) return false;
    return member->count > 0;
}

/* NULL: it has all that a verdict needs. */
static const char *why_useless(const struct member *member)
{
    if (!member->about.gate[0]) return "its gate did not end";
    if (!over_has_rounds(member) && !is_proven(member)) return "its rounds are not in the database";
    return NULL;
}

/* One node may be in several files. */
static struct member *member_of(struct over *over, const struct gate_node *node)
{
    for (int i = 0; i < over->count; i++)
        if (strcmp(over->members[i].about.host, node->host) == 0 &&
            strcmp(over->members[i].about.card, node->card) == 0)
            return &over->members[i];
    return grow_add(&over->members, &over->count, sizeof *over->members, "the gates of nodes");
}

/* The newest counts; of two copies of one gate that which is whole: the other was made meanwhile.
 */
static int take_node(const struct gate_node *node, void *context)
{
    struct over *over = context;
    over->has_gate = true;
    struct member *member = member_of(over, node);
    if (!member) return -1;
    int later = strcmp(node->started_at, member->about.started_at);
    if (later < 0 || (later == 0 && !why_useless(member))) return 0;
    release(member);
    member->about = *node;
    return node->gate[0] ? read_member(over, member) : 0;
}

/* A file that cannot be read is the share of a node, as one is that a node never wrote. */
int over_read(struct over *over, const char *path)
{
    char shown[STORE_SHOWN];
    over->has_gate = false;
    if (store_open(&over->store, path, STORE_READ) != 0) {
        lose(over, "", assay_last_error());
        return 0;
    }
    int status = store_each_gate_node(over->store, take_node, over);
    store_close(over->store);
    if (status == 0 && !over->has_gate)
        lose(over, store_shown(path, shown), "no gate of two programs is in it");
    return status;
}

static void drop(struct over *over, int at, const char *why)
{
    lose_node(over, &over->members[at].about, why);
    release(&over->members[at]);
    memmove(&over->members[at], &over->members[at + 1],
            (size_t)(over->count - at - 1) * sizeof *over->members);
    over->count--;
}

/* Of a gate without launches the commits are known alone. */
static bool is_alike(const struct member *one, const struct member *other)
{
    if (!over_has_rounds(one) || !over_has_rounds(other)) {
        const struct gate_node *a = &one->about, *b = &other->about;
        return strcmp(a->suite, b->suite) == 0 && strcmp(a->build[0], b->build[0]) == 0 &&
               strcmp(a->build[1], b->build[1]) == 0;
    }
    for (int arm = 0; arm < 2; arm++)
        if (!gate_is_same_build(&one->run.pool[arm].run.program,
                                &other->run.pool[arm].run.program) ||
            !gate_is_same_suite(&one->run.pool[arm], &other->run.pool[arm]))
            return false;
    return true;
}

static int most_usual(const struct over *over)
{
    int best = 0, most = 0;
    for (int i = 0; i < over->count; i++) {
        int alike = 0;
        for (int j = 0; j < over->count; j++)
            alike += is_alike(&over->members[i], &over->members[j]);
        if (alike > most) best = i;
        if (alike > most) most = alike;
    }
    return best;
}

void over_drop_useless(struct over *over)
{
    for (int i = over->count - 1; i >= 0; i--) {
        const char *why = why_useless(&over->members[i]);
        if (why) drop(over, i, why);
    }
    struct member usual = {0};
    if (over->count > 0) usual = over->members[most_usual(over)];
    for (int i = over->count - 1; i >= 0; i--)
        if (!is_alike(&over->members[i], &usual))
            drop(over, i, "it gated other builds, or another text of the suite");
}

void over_release(struct over *over)
{
    for (int i = 0; i < over->count; i++)
        release(&over->members[i]);
    free(over->members);
}
