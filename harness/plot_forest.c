/* plot_forest.c - the data of plots/forest.gp. */
#include "plot_data.h"

enum plot_outcome plot_forest(FILE *out, const struct plot_request *request)
{
    (void)out;
    return plot_nothing(request, "this kind is not drawn yet");
}
