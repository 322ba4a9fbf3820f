/* plot_pipeline.c - the data of plots/pipeline.gp. */
#include "plot_data.h"

enum plot_outcome plot_pipeline(FILE *out, const struct plot_request *request)
{
    (void)out;
    return plot_nothing(request, "this kind is not drawn yet");
}
