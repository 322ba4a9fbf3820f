/* The fastest few ways to do a step of a model (kernels/gpt/model/model_ranking.h). */
#include "tests/test.h"
#include "kernels/gpt/model/model_ranking.h"

TEST(nothing_measured_is_beaten_by_anything)
{
    const struct model_ranking ranking = {0};
    assert_true(isinf(model_ranking_least_us(&ranking)));
}

TEST(the_fastest_is_first_in_whatever_order_they_come)
{
    enum { MEASURED = MODEL_RIVALS + 1 };
    static const double orders[][MEASURED] = {{1, 2, 3, 4, 5, 6, 7, 8, 9},
                                              {9, 8, 7, 6, 5, 4, 3, 2, 1},
                                              {3, 1, 8, 6, 4, 9, 2, 5, 7},
                                              {2, 6, 9, 4, 7, 1, 5, 3, 8}};
    for (int order = 0; order < 4; order++) {
        struct model_ranking ranking = {0};
        for (int i = 0; i < MEASURED; i++)
            model_ranking_add(&ranking, (int)orders[order][i], orders[order][i]);
        assert_int_equal(ranking.count, MODEL_RIVALS);
        for (int i = 0; i < MODEL_RIVALS; i++)
            assert_int_equal(ranking.choice[i], i + 1);
        assert_true(model_ranking_least_us(&ranking) == 1);
    }
}

TEST(of_equals_the_first_measured_stays_ahead)
{
    struct model_ranking ranking = {0};
    model_ranking_add(&ranking, 7, 5.0);
    model_ranking_add(&ranking, -1, 5.0);
    assert_int_equal(ranking.choice[0], 7);
    assert_int_equal(ranking.choice[1], -1);
}
