/* plot_dist.c - the data of plots/dist.gp. */
#include "plot_data.h"

enum plot_outcome plot_dist(FILE *out, const struct plot_request *request)
{
    (void)out;
    return plot_nothing(request, "this kind is not drawn yet");
}
