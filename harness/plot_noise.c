/* plot_noise.c - the data of plots/noise.gp. */
#include "plot_data.h"

enum plot_outcome plot_noise(FILE *out, const struct plot_request *request)
{
    (void)out;
    return plot_nothing(request, "this kind is not drawn yet");
}
