/*
 * lambdas.cpp - variants of `twice` (kernel.c) by assay.hpp: with a state, and one that throws.
 */
#include <assay.hpp>
#include <stdexcept>
#include <vector>

static const assay_variant remembers = {
    .operation = "twice",
    .name = "remembers",
    .summary = "the results, made in setup",
    .place = ASSAY_HOST,
    .setup = assay::make([](assay_call *call) { return std::vector<float>(assay::size(call, 0)); }),
    .launch = assay::call([](assay_call *call) {
        auto &doubled = assay::state<std::vector<float>>(call);
        auto x = assay::buffer<const float>(call, 0);
        auto y = assay::buffer<float>(call, 1);
        for (size_t i = 0; i < doubled.size(); i++)
            y[i] = doubled[i] = 2 * x[i];
    }),
    .teardown = assay::destroy<std::vector<float>>,
};
ASSAY_REGISTER_VARIANT(remembers);

static const assay_variant throws_one = {
    .operation = "twice",
    .name = "throws_one",
    .summary = "an exception in a launch",
    .place = ASSAY_HOST,
    .launch = assay::call([](assay_call *) { throw std::runtime_error("it has its reasons"); }),
};
ASSAY_REGISTER_VARIANT(throws_one);

static const assay_variant throws_early = {
    .operation = "twice",
    .name = "throws_early",
    .summary = "one in setup, which is no std::exception",
    .place = ASSAY_HOST,
    .setup = assay::make([](assay_call *) -> int { throw 7; }),
    .launch = assay::call([](assay_call *) { return -1; }),
    .teardown = assay::destroy<int>,
};
ASSAY_REGISTER_VARIANT(throws_early);
