/* plot_roofline.c - the data of plots/roofline.gp. */
#include "plot_data.h"

enum plot_outcome plot_roofline(FILE *out, const struct plot_request *request)
{
    (void)out;
    return plot_nothing(request, "this kind is not drawn yet");
}
