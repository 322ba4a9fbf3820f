/*
 * gate_bench.c - the error rates of the gate by simulation, as tables for
 * docs/gate-statistics.md: `make check-stats`. Exits 1 when a rate is not what was promised.
 */
#include <stdio.h>

#include "gate_simulation.h"

enum { CASES = 200, RUNS = 200, POWER_RUNS = 400 };

static double percent(int part, int whole)
{
    return whole ? 100.0 * part / whole : 0;
}

static int unchanged(void)
{
    int broken = 0;
    printf("%d gates of %d unchanged cases, threshold 2 %%:\n\n", RUNS, CASES);
    puts("| between launches | gates with REGRESSED | with IMPROVED | cases PASS | INCONCLUSIVE "
         "| UNSTABLE |\n|:--|--:|--:|--:|--:|--:|");
    for (int m = 0; m < LAUNCH_MODELS; m++) {
        struct simulated_counts c =
            simulate_gates(&launch_models[m], RUNS, CASES, 0, 0, 1000 + (uint64_t)m);
        printf("| %s | %.1f %% | %.1f %% | %.2f %% | %.2f %% | %.2f %% |\n", launch_models[m].name,
               percent(c.runs_with[VERDICT_REGRESSED], c.runs),
               percent(c.runs_with[VERDICT_IMPROVED], c.runs), percent(c.of[VERDICT_PASS], c.cases),
               percent(c.of[VERDICT_INCONCLUSIVE], c.cases),
               percent(c.of[VERDICT_UNSTABLE], c.cases));
        broken += percent(c.runs_with[VERDICT_REGRESSED], c.runs) > 5;
    }
    return broken;
}

static int slowed(int count)
{
    static const double changes[] = {0.02, 0.03, 0.05, 0.10};
    static const double promised[] = {0, 80, 98, 100}; /* percent caught, at 0.5 % */
    int broken = 0;
    printf("\n%d of %d cases slowed, %d gates:\n\n", count, CASES, POWER_RUNS);
    puts("| between launches | slowed by | REGRESSED | INCONCLUSIVE | UNSTABLE | PASS |\n"
         "|:--|--:|--:|--:|--:|--:|");
    for (int m = 0; m < LAUNCH_MODELS; m++) {
        for (size_t e = 0; e < sizeof changes / sizeof changes[0]; e++) {
            struct simulated_counts c = simulate_gates(&launch_models[m], POWER_RUNS, CASES, count,
                                                       changes[e], 2000 + 10 * (uint64_t)m + e);
            double caught = percent(c.of[VERDICT_REGRESSED], c.cases);
            double passed = percent(c.of[VERDICT_PASS], c.cases);
            printf("| %s | %.0f %% | %.2f %% | %.2f %% | %.2f %% | %.2f %% |\n",
                   launch_models[m].name, 100 * changes[e], caught,
                   percent(c.of[VERDICT_INCONCLUSIVE], c.cases),
                   percent(c.of[VERDICT_UNSTABLE], c.cases), passed);
            if (m == 1) broken += caught < promised[e] || (changes[e] >= 0.03 && passed >= 1);
        }
    }
    return broken;
}

/* Whether "finds" is what it says; the two modes are what a normal law does not see. */
static int finds(void)
{
    static const int changed[] = {0, 20};
    int broken = 0;
    printf("\nWhat a PASS says that it would have found, in %d cases; a case slowed by as much, %d "
           "gates:\n\n",
           CASES, POWER_RUNS);
    puts("| between launches | other cases changed | finds, mean | REGRESSED |\n|:--|--:|--:|--:|");
    for (int m = 0; m < LAUNCH_MODELS; m++) {
        for (int c = 0; c < 2; c++) {
            struct simulated_finds f = simulate_finds(&launch_models[m], POWER_RUNS, CASES,
                                                      changed[c], 3000 + 10 * (uint64_t)m);
            double found = percent(f.found, f.tried);
            printf("| %s | %d | %.2f %% | %.0f %% |\n", launch_models[m].name, changed[c],
                   100 * f.mean, found);
            if (m == 1) broken += found < 70;
        }
    }
    return broken;
}

/* Short cases by a clock of 32 ns, with 60 samples of 1 % per launch. */
static int below_the_steps(void)
{
    static const struct launch_model models[] = {
        {"600 ns", .launch = 0.001, .time_ns = 600, .step_ns = 32},
        {"1 us", .launch = 0.001, .time_ns = 1000, .step_ns = 32},
        {"3 us", .launch = 0.001, .time_ns = 3000, .step_ns = 32},
    };
    static const double changes[] = {0, 0.03, 0.05, 0.10};
    int broken = 0;
    printf(
        "\nShort cases by a clock of 32 ns, 10 of %d slowed (none: all are counted), %d gates:\n\n"
        "| time | slowed by | REGRESSED | INCONCLUSIVE | PASS |\n|:--|--:|--:|--:|--:|\n",
        CASES, RUNS / 4);
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        for (size_t e = 0; e < sizeof changes / sizeof changes[0]; e++) {
            struct simulated_counts c =
                simulate_gates(&models[m], RUNS / 4, CASES, changes[e] > 0 ? 10 : 0, changes[e],
                               4000 + 10 * m + e);
            double regressed = percent(c.of[VERDICT_REGRESSED], c.cases);
            double passed = percent(c.of[VERDICT_PASS], c.cases);
            printf("| %s | %.0f %% | %.2f %% | %.2f %% | %.2f %% |\n", models[m].name,
                   100 * changes[e], regressed, percent(c.of[VERDICT_INCONCLUSIVE], c.cases),
                   passed);
            broken += changes[e] == 0      ? c.runs_with[VERDICT_REGRESSED] > 0.05 * c.runs
                      : changes[e] >= 0.05 ? regressed < 95 || passed > 0
                                           : 0;
        }
    }
    return broken;
}

/* Builds that differ in a case by a bias of 1 % (standard deviation) in all of their launches. */
static int biased(void)
{
    static const struct launch_model models[] = {
        {"nothing", .launch = 0.005, .bias = 0.01},
        {"a fifth of the cases", .launch = 0.005, .bias = 0.01, .twins = 0.2},
        {"all cases", .launch = 0.005, .bias = 0.01, .twins = 1},
        {"all cases; no bias", .launch = 0.005, .twins = 1},
        {"all cases; no bias, 2 % between launches", .launch = 0.02, .twins = 1},
    };
    static const int counts[] = {50, 200};
    int broken = 0;
    printf("\nBuilds that differ by 1 %% in a case, 0.5 %% between launches, %d gates:\n\n"
           "| twins | cases | unchanged: gates with REGRESSED | REGRESSED at 5 %% | at 10 %% |\n"
           "|:--|--:|--:|--:|--:|\n",
           POWER_RUNS);
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        for (int k = 0; k < 2; k++) {
            double found[3];
            for (int e = 0; e < 3; e++) {
                int changed = e > 0;
                struct simulated_counts c =
                    simulate_gates(&models[m], e ? RUNS / 2 : POWER_RUNS, counts[k], changed,
                                   0.05 * e, 6000 + 10 * (uint64_t)m + (uint64_t)e);
                found[e] = changed ? percent(c.of[VERDICT_REGRESSED], c.cases)
                                   : percent(c.runs_with[VERDICT_REGRESSED], c.runs);
            }
            printf("| %s | %d | %.1f %% | %.0f %% | %.0f %% |\n", models[m].name, counts[k],
                   found[0], found[1], found[2]);
            broken += models[m].twins > 0 && found[0] > 5;
        }
    }
    return broken;
}

/* What no gate can see: rounds that are not independent. Nothing is promised of these. */
static void wandering(void)
{
    static const double stays[] = {0, 0.5, 0.9};
    static const double deviations[] = {0.005, 0.01, 0.02};
    printf(
        "\nOne program wanders from round to round, 0.5 %% between launches, 50 unchanged cases, "
        "gates with REGRESSED (%d gates):\n\n"
        "| wander | nothing stays | half stays | nine tenths stay |\n|:--|--:|--:|--:|\n",
        POWER_RUNS);
    for (size_t d = 0; d < sizeof deviations / sizeof deviations[0]; d++) {
        printf("| %.1f %% |", 100 * deviations[d]);
        for (size_t r = 0; r < sizeof stays / sizeof stays[0]; r++) {
            const struct launch_model model = {
                .launch = 0.005, .wander = deviations[d], .rho = stays[r]};
            struct simulated_counts c =
                simulate_gates(&model, POWER_RUNS, 50, 0, 0, 7000 + 10 * d + r);
            printf(" %.1f %% |", percent(c.runs_with[VERDICT_REGRESSED], c.runs));
        }
        puts("");
    }
}

/* The share of gates of `cases` unchanged cases that say REGRESSED, in per cent. */
static double stored_gates(double session, int runs, int cases, bool with_fence)
{
    int wrong = 0;
    struct rng rng;
    rng_seed(&rng, 5000 + (uint64_t)runs);
    for (int gate = 0; gate < POWER_RUNS; gate++) {
        bool any = false;
        for (int i = 0; i < cases; i++)
            any |= simulated_stored_regressed(&rng, session, runs, with_fence);
        wrong += any;
    }
    return percent(wrong, POWER_RUNS);
}

static int stored(void)
{
    static const double sessions[] = {0.005, 0.01, 0.02};
    static const int runs[] = {11, 21, 51};
    int broken = 0;
    printf(
        "\nGates of 50 unchanged cases against a stored run, 0.5 %% between launches, with "
        "REGRESSED (%d gates):\n\n"
        "| between sessions | no fence | 11 runs of history | 21 | 51 |\n|:--|--:|--:|--:|--:|\n",
        POWER_RUNS);
    for (size_t s = 0; s < sizeof sessions / sizeof sessions[0]; s++) {
        printf("| %.1f %% | %.1f %% |", 100 * sessions[s],
               stored_gates(sessions[s], 11, 50, false));
        for (size_t r = 0; r < sizeof runs / sizeof runs[0]; r++) {
            double wrong = stored_gates(sessions[s], runs[r], 50, true);
            printf(" %.1f %% |", wrong);
            broken += wrong > 5;
        }
        puts("");
    }
    return broken;
}

/* What is asked for by name, or all. */
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "stored") == 0) return stored();
    if (argc > 1 && strcmp(argv[1], "biased") == 0) return biased();
    wandering();
    if (argc > 1 && strcmp(argv[1], "wandering") == 0) return 0;
    int broken =
        stored() + biased() + below_the_steps() + unchanged() + slowed(1) + slowed(10) + finds();
    if (broken) printf("\n%d rates are not as promised\n", broken);
    return broken ? 1 : 0;
}
