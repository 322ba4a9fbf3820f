/* ranges.c - see ranges.h. By nvtxDetail/nvtxTypes.h, which NVTX has had since version 2. */
#include "device/cuda/inject/ranges.h"

#if __has_include(<nvtx3/nvToolsExt.h>)

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "device/cuda/symbols.h"
#include "device/trace_format.h"

enum {
    MOST_NAMES = 1 << 16,
    MOST_DEPTH = 64, /* deeper ranges count as the one at this depth */
    MOST_NAME = 256,
};

/* ----------------------------------------------------------------- names -- */

static struct {
    pthread_mutex_t lock;
    struct symbols all;
    uint32_t count;
    const char *text[MOST_NAMES]; /* by number; MOST_NAMES is that of all that are too many */
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t name_number(const char *text)
{
    char cut[MOST_NAME];
    snprintf(cut, sizeof cut, "%s", text && text[0] ? text : "(no name)");
    pthread_mutex_lock(&names.lock);
    const struct symbol *known = symbols_find(&names.all, cut);
    struct symbol *added =
        known || names.count + 1 == MOST_NAMES ? NULL : symbols_intern(&names.all, cut);
    if (added) names.text[added->number = ++names.count] = added->name;
    uint32_t number = known ? known->number : added ? added->number : MOST_NAMES;
    pthread_mutex_unlock(&names.lock);
    return number;
}

static uint32_t wide_name_number(const wchar_t *text)
{
    char narrow[MOST_NAME];
    size_t i = 0;
    for (; text && text[i] && i + 1 < sizeof narrow; i++)
        narrow[i] = text[i] < 128 ? (char)text[i] : '?';
    narrow[i] = '\0';
    return name_number(narrow);
}

const char *ranges_name(uint32_t number)
{
    if (number == 0) return NULL;
    return number < MOST_NAMES ? names.text[number] : TRACE_MORE_RANGES;
}

void ranges_forked(void)
{
    pthread_mutex_init(&names.lock, NULL);
}

/* ---------------------------------------------------------------- stacks -- */

static _Thread_local struct {
    int depth;
    struct {
        nvtxDomainHandle_t domain;
        uint32_t number;
    } level[MOST_DEPTH];
} stack;

static struct {
    _Atomic bool is_used;
    void (*_Atomic first)(void);
} watch;

void ranges_watch(void (*first)(void))
{
    atomic_store(&watch.first, first);
    if (atomic_load(&watch.is_used)) first();
}

static int known_levels(void)
{
    return stack.depth < MOST_DEPTH ? stack.depth : MOST_DEPTH;
}

uint32_t ranges_current(void)
{
    int known = known_levels();
    return known ? stack.level[known - 1].number : 0;
}

static int push(nvtxDomainHandle_t domain, uint32_t number)
{
    if (!atomic_exchange(&watch.is_used, true)) {
        void (*first)(void) = atomic_load(&watch.first);
        if (first) first();
    }
    if (stack.depth < MOST_DEPTH) {
        stack.level[stack.depth].domain = domain;
        stack.level[stack.depth].number = number;
    }
    return stack.depth++;
}

/* The innermost of the domain: those of two domains need not be nested. */
static int pop(nvtxDomainHandle_t domain)
{
    int known = known_levels(), at = known - 1;
    if (stack.depth > MOST_DEPTH) return --stack.depth;
    while (at >= 0 && stack.level[at].domain != domain)
        at--;
    if (at < 0) return NVTX_NO_PUSH_POP_TRACKING;
    memmove(&stack.level[at], &stack.level[at + 1],
            (size_t)(known - at - 1) * sizeof stack.level[0]);
    return --stack.depth;
}

/* ------------------------------------------------------- what NVTX calls -- */

static uint32_t message_number(const nvtxEventAttributes_t *attributes)
{
    if (!attributes) return name_number(NULL);
    switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
        return name_number(attributes->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
        return wide_name_number(attributes->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: /* what register_ascii returned */
        return attributes->message.registered ? (uint32_t)(uintptr_t)attributes->message.registered
                                              : name_number(NULL);
    default:
        return name_number(NULL);
    }
}

static int NVTX_API push_ascii(const char *message)
{
    return push(NULL, name_number(message));
}

static int NVTX_API push_wide(const wchar_t *message)
{
    return push(NULL, wide_name_number(message));
}

static int NVTX_API push_attributes(const nvtxEventAttributes_t *attributes)
{
    return push(NULL, message_number(attributes));
}

static int NVTX_API pop_plain(void)
{
    return pop(NULL);
}

static int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    return push(domain, message_number(attributes));
}

static int NVTX_API domain_pop(nvtxDomainHandle_t domain)
{
    return pop(domain);
}

static nvtxStringHandle_t NVTX_API register_ascii(nvtxDomainHandle_t domain, const char *text)
{
    (void)domain;
    return (nvtxStringHandle_t)(uintptr_t)name_number(text);
}

static nvtxStringHandle_t NVTX_API register_wide(nvtxDomainHandle_t domain, const wchar_t *text)
{
    (void)domain;
    return (nvtxStringHandle_t)(uintptr_t)wide_name_number(text);
}

/* A domain is told from others, and from none, by its name. */
static nvtxDomainHandle_t NVTX_API domain_ascii(const char *name)
{
    return (nvtxDomainHandle_t)(uintptr_t)name_number(name);
}

static nvtxDomainHandle_t NVTX_API domain_wide(const wchar_t *name)
{
    return (nvtxDomainHandle_t)(uintptr_t)wide_name_number(name);
}

/* What NVTX has in the place of a function: our one, of the type that nvtxTypes.h gives it. */
#define HOOK(module, id, type, function)                                                           \
    {                                                                                              \
        module, id, (NvtxFunctionPointer)(type##_impl_fntype)function                              \
    }
static const struct {
    NvtxCallbackModule module;
    unsigned id;
    NvtxFunctionPointer function;
} hooks[] = {
    HOOK(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushA, nvtxRangePushA, push_ascii),
    HOOK(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushW, nvtxRangePushW, push_wide),
    HOOK(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushEx, nvtxRangePushEx, push_attributes),
    HOOK(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePop, nvtxRangePop, pop_plain),
    HOOK(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePushEx, nvtxDomainRangePushEx,
         domain_push),
    HOOK(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePop, nvtxDomainRangePop, domain_pop),
    HOOK(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRegisterStringA, nvtxDomainRegisterStringA,
         register_ascii),
    HOOK(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRegisterStringW, nvtxDomainRegisterStringW,
         register_wide),
    HOOK(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainCreateA, nvtxDomainCreateA, domain_ascii),
    HOOK(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainCreateW, nvtxDomainCreateW, domain_wide),
};

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t export_table);

/* Called for each library of the process that has NVTX in it. 1: hooked. */
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table)
{
    const NvtxExportTableCallbacks *callbacks = export_table(NVTX_ETID_CALLBACKS);
    if (!callbacks || callbacks->struct_size < sizeof *callbacks) return 0;
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        NvtxFunctionTable table = NULL;
        unsigned size = 0; /* the entries that this NVTX has */
        if (callbacks->GetModuleFunctionTable(hooks[i].module, &table, &size) && table &&
            hooks[i].id < size && table[hooks[i].id])
            *table[hooks[i].id] = hooks[i].function;
    }
    return 1;
}

#else /* no NVTX headers: no ranges */

uint32_t ranges_current(void)
{
    return 0;
}

const char *ranges_name(uint32_t number)
{
    (void)number;
    return NULL;
}

void ranges_watch(void (*first)(void))
{
    (void)first;
}

void ranges_forked(void)
{
}

#endif
