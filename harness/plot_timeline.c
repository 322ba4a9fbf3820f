/* plot_timeline.c - the data of plots/timeline.gp. */
#include "plot_data.h"

enum plot_outcome plot_timeline(FILE *out, const struct plot_request *request)
{
    (void)out;
    return plot_nothing(request, "this kind is not drawn yet");
}
