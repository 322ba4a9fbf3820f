/* size_class.c - sizes that follow the device's cache. */
#include "base/text.h"
#include "base/units.h"
#include "case/shape.h"
#include "suite/size_class.h"

const char *const size_class_names[SIZE_CLASSES] = {"l2", "vram"};

static const struct {
    double caches;   /* the class's bytes, in sizes of the cache */
    bool is_ceiling; /* at most so many bytes; otherwise at least */
} classes[SIZE_CLASSES] = {{0.25, true}, {8, false}};

/* Bytes of the working set as a function of one dim, which grows with it. */
struct search {
    struct assay_shape shape;
    int dim;
    double limit;
    bool is_ceiling;
};

static bool is_inside(struct search *search, int64_t value)
{
    search->shape.value[search->dim] = value;
    double bytes = shape_bytes(&search->shape);
    return search->is_ceiling ? bytes <= search->limit : bytes >= search->limit;
}

/* Doubles from `min` until the class's edge lies between *low and *high; false
 * when no edge does. Small steps first: work() is never asked about sizes far
 * beyond what will be used, where its products could overflow. */
static bool bracket_edge(struct search *search, int64_t min, int64_t max, int64_t *low,
                         int64_t *high)
{
    bool at_min = is_inside(search, min);
    *low = *high = min;
    while (*high < max) {
        *low = *high;
        *high = *low > max / 2 ? max : *low ? 2 * *low : 1;
        if (is_inside(search, *high) != at_min) return true;
    }
    return false;
}

/* The value next to the edge, inside. */
static int64_t bisect(struct search *search, int64_t inside, int64_t outside)
{
    while (inside - outside > 1 || outside - inside > 1) {
        int64_t middle = inside + (outside - inside) / 2;
        if (is_inside(search, middle))
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

/* Sizes that a kernel need not treat as ragged: whole vectors, blocks and pages. */
static int64_t round_inwards(struct search *search, int64_t value, int64_t min, int64_t max)
{
    int64_t step = value > 1000000 ? 4096 : value > 1024 ? 64 : 1;
    int64_t rounded = value - value % step;
    if (!search->is_ceiling && rounded < value) rounded += step;
    if (rounded < min || rounded > max || !is_inside(search, rounded)) return value;
    return rounded;
}

static int no_value(const struct search *search, const char *class_name)
{
    const struct assay_operation *operation = search->shape.operation;
    char bytes[UNITS_MAX];
    units_bytes(bytes, search->limit);
    return assay_error("no value of %s brings %s %s the %s that %s is on this device",
                       operation->dims[search->dim].name, operation->name,
                       search->is_ceiling ? "down to" : "up to", bytes, class_name);
}

int size_class_solve(const struct assay_shape *shape, int dim, const char *class_name, double times,
                     const struct device_info *device, int64_t *value)
{
    int class = rows_find(ROWS(size_class_names), class_name);
    if (class < 0) return assay_error("no size class is called '%s'", class_name);
    if (device->cache_bytes <= 0)
        return assay_error("size class %s: the size of the device's cache is not known",
                           class_name);
    struct search search = {.shape = *shape,
                            .dim = dim,
                            .limit = times * classes[class].caches * (double)device->cache_bytes,
                            .is_ceiling = classes[class].is_ceiling};
    int64_t min, max;
    shape_range(&shape->operation->dims[dim], &min, &max);
    bool at_min = is_inside(&search, min);
    int64_t low, high, edge;
    if (at_min != search.is_ceiling) {
        if (search.is_ceiling) return no_value(&search, class_name);
        edge = min;
    } else if (bracket_edge(&search, min, max, &low, &high)) {
        edge = search.is_ceiling ? bisect(&search, low, high) : bisect(&search, high, low);
    } else {
        if (!search.is_ceiling) return no_value(&search, class_name);
        edge = max;
    }
    *value = round_inwards(&search, edge, min, max);
    return 0;
}
