/* The fastest few ways to do a step of a model (kernels/gpt/model/model_ranking.h). */
#include "tests/test.h"
#include "kernels/gpt/model/model_ranking.h"

TEST(nothing_measured_is_beaten_by_anything)
{
    const struct model_ranking ranking = {0};
    assert_true(isinf(model_ranking_least_us(&ranking)));
    assert_false(model_ranking_has(&ranking, 0));
}

TEST(the_fastest_is_first_in_whatever_order_they_come)
{
    static const double orders[][6] = {
        {1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1}, {3, 1, 6, 4, 2, 5}, {2, 6, 4, 1, 5, 3}};
    for (int order = 0; order < 4; order++) {
        struct model_ranking ranking = {0};
        for (int i = 0; i < 6; i++)
            model_ranking_add(&ranking, (int)orders[order][i], orders[order][i]);
        assert_int_equal(ranking.count, MODEL_RIVALS);
        for (int i = 0; i < MODEL_RIVALS; i++)
            assert_int_equal(ranking.choice[i], i + 1);
        assert_true(model_ranking_least_us(&ranking) == 1);
        assert_false(model_ranking_has(&ranking, 6));
    }
}

TEST(of_equals_the_first_measured_stays_ahead)
{
    struct model_ranking ranking = {0};
    model_ranking_add(&ranking, 7, 5.0);
    model_ranking_add(&ranking, -1, 5.0);
    assert_int_equal(ranking.choice[0], 7);
    assert_int_equal(ranking.choice[1], -1);
    assert_true(model_ranking_has(&ranking, -1));
}
