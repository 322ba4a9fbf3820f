/* plot_pareto.c - the data of plots/pareto.gp. */
#include "plot_data.h"

enum plot_outcome plot_pareto(FILE *out, const struct plot_request *request)
{
    (void)out;
    return plot_nothing(request, "this kind is not drawn yet");
}
