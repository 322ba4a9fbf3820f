/*
 * assay.hpp - assay.h for C++20: lambdas where it wants functions, exceptions where it wants -1,
 * and typed buffers. A page of templates over the same structs, which are filled as in C:
 *
 *   static const assay_variant transform = {
 *       .operation = "softsign", .name = "transform", .summary = "std::transform",
 *       .place = ASSAY_HOST,
 *       .launch = assay::call([](assay_call *c) {
 *           auto x = assay::buffer<const float>(c, 0);
 *           std::transform(x, x + assay::size(c, 0), assay::buffer<float>(c, 1), softsign);
 *       }),
 *   };
 *   ASSAY_REGISTER_VARIANT(transform);
 *
 * A lambda captures nothing, because what calls it has no place for captures: what a launch needs
 * is made in setup and kept as the call's state.
 */
#ifndef ASSAY_HPP
#define ASSAY_HPP

#include <exception>
#include <type_traits>

#include "assay.h"

namespace assay
{

/* Call, and return what it returned (nothing is 0); an exception is an assay_error. */
template <class F, class... Arguments> int guarded(F function, Arguments... arguments)
{
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<F, Arguments...>>)
            return function(arguments...), 0;
        else
            return function(arguments...);
    } catch (const std::exception &error) {
        return assay_error("%s", error.what());
    } catch (...) {
        return assay_error("an exception that is no std::exception");
    }
}

/* For launch and check: a lambda (assay_call *), which returns nothing or an int. */
template <class F> constexpr auto call(F)
{
    return +[](assay_call *of) -> int { return guarded(F{}, of); };
}

/* For setup: a lambda (assay_call *) that returns the state; teardown is destroy<State>. */
template <class F> constexpr auto make(F)
{
    using State = std::invoke_result_t<F, assay_call *>;
    return +[](assay_call *of) -> int {
        return guarded([](assay_call *now) { now->state = new State(F{}(now)); }, of);
    };
}
template <class State> void destroy(assay_call *of)
{
    delete static_cast<State *>(of->state);
    of->state = nullptr;
}
template <class State> State &state(const assay_call *of)
{
    return *static_cast<State *>(of->state);
}

/* For reference, of an operation with one output: a lambda (const assay_shape *, const void *const
 * in[], int64_t i) that returns element i. */
template <class F> constexpr auto elements(F)
{
    return +[](const assay_shape *shape, const void *const in[], int, int64_t begin, int64_t end,
               double *expected, double *) -> int {
        return guarded([=] {
            for (int64_t i = begin; i < end; i++)
                expected[i - begin] = F{}(shape, in, i);
        });
    };
}

template <class T> T *buffer(const assay_call *of, int index)
{
    return static_cast<T *>(of->buffer[index]);
}
template <class T> const T *input(const void *const in[], int index)
{
    return static_cast<const T *>(in[index]);
}
inline int64_t size(const assay_shape *shape, int dim)
{
    return shape->value[dim];
}
inline int64_t size(const assay_call *of, int dim)
{
    return of->shape->value[dim];
}

} // namespace assay

#endif
