/* nvtx.c - the only file that includes NVTX's headers. */
#include "device/nvtx.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

/* One colour per level, so that levels can be told apart in a timeline. */
static const struct {
    const char *name;
    uint32_t argb;
} levels[] = {
    [NVTX_RUN] = {"run", 0xff4e79a7},
    [NVTX_GROUP] = {"group", 0xff59a14f},
    [NVTX_CASE] = {"case", 0xfff28e2b},
    [NVTX_LAUNCH] = {"launch", 0xffbab0ac},
};

/* The id of a category; in NVTX 0 means none. */
static uint32_t category(int level)
{
    return (uint32_t)level + 1;
}

/* Created once: each creation takes a lock, in every launch. NULL: no profiler is attached. */
static nvtxDomainHandle_t domain(void)
{
    static nvtxDomainHandle_t handle;
    static bool is_made;
    if (is_made) return handle;
    is_made = true;
    handle = nvtxDomainCreateA("assay");
    for (int level = 0; handle && level < (int)(sizeof levels / sizeof *levels); level++)
        nvtxDomainNameCategoryA(handle, category(level), levels[level].name);
    return handle;
}

bool nvtx_is_built(void)
{
    return true;
}

void nvtx_push(enum nvtx_level level, const char *text)
{
    nvtxEventAttributes_t attributes = {
        .version = NVTX_VERSION,
        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
        .category = category((int)level),
        .colorType = NVTX_COLOR_ARGB,
        .color = levels[level].argb,
        .messageType = NVTX_MESSAGE_TYPE_ASCII,
        .message = {.ascii = text},
    };
    nvtxDomainRangePushEx(domain(), &attributes);
}

void nvtx_pop(void)
{
    nvtxDomainRangePop(domain());
}

#else

bool nvtx_is_built(void)
{
    return false;
}

void nvtx_push(enum nvtx_level level, const char *text)
{
    (void)level;
    (void)text;
}

void nvtx_pop(void)
{
}

#endif
