/* plot_speedup.c - the data of plots/speedup.gp. */
#include "plot_data.h"

enum plot_outcome plot_speedup(FILE *out, const struct plot_request *request)
{
    (void)out;
    return plot_nothing(request, "this kind is not drawn yet");
}
