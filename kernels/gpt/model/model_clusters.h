/*
 * model_clusters.h - all layers of a model by one launch, a cluster of blocks per sequence: what
 * the launches of model_clusters.cu need, for `best` too.
 */
#pragma once

#include "model.h"

struct model_clusters;

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, or why a shape of gpt_forward or gpt_block cannot be computed so on this card. */
const char *model_clusters_refused(const struct assay_shape *shape);
/* In setup: allocates, and adds to call->workspace_bytes. 0, -1 or ASSAY_SKIP. What it leaves in
 * *made, NULL too, is to be released. */
int model_clusters_init(struct model_clusters **made, struct assay_call *call);
/* One launch. Launches of one struct must follow each other: they share its memory. */
int model_clusters_enqueue(const struct model_clusters *clusters, void *stream);
void model_clusters_release(struct model_clusters *clusters);

#ifdef __cplusplus
}
#endif
