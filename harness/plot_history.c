/* plot_history.c - the data of plots/history.gp. */
#include "plot_data.h"

enum plot_outcome plot_history(FILE *out, const struct plot_request *request)
{
    (void)out;
    return plot_nothing(request, "this kind is not drawn yet");
}
