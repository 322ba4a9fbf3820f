/*
 * memory.cc - where addresses lead, and the ordinary accesses. Device memory is known by
 * allocation, each with a gap behind it: an access that no allocation has whole is a fault, and so
 * is a misaligned one.
 */
#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

#include "emulator.h"

namespace emu
{

/* ------------------------------------------------------------- allocations -- */

namespace
{

struct Allocation {
    size_t bytes;
    void *mapping;
    string what;
};

std::map<uintptr_t, Allocation> &allocations()
{
    static std::map<uintptr_t, Allocation> all;
    return all;
}

size_t used;
uintptr_t last_begin, last_end;

} // namespace

void *memory_alloc(size_t bytes, bool host)
{
    const size_t gap = 4096;
    char *at = (char *)malloc(bytes + 2 * gap);
    if (!at) return nullptr;
    char *begin = (char *)((((uintptr_t)at + gap) & ~(uintptr_t)511) |
                           256); /* no more aligned than CUDA says */
    memset(begin, 0xff, bytes);  /* NaN, should anyone read it before it is written */
    allocations()[(uintptr_t)begin] = {bytes, at, host ? "host memory" : "memory"};
    used += bytes;
    return begin;
}

bool memory_free(void *at)
{
    auto found = allocations().find((uintptr_t)at);
    if (found == allocations().end()) return false;
    used -= found->second.bytes;
    free(found->second.mapping);
    allocations().erase(found);
    last_begin = last_end = 0;
    return true;
}

size_t memory_used(void)
{
    return used;
}

uint8_t *device_memory(uint64_t address, int64_t bytes, bool write)
{
    if (address >= last_begin && address + (uint64_t)bytes <= last_end) return (uint8_t *)address;
    auto next = allocations().upper_bound(address);
    if (next != allocations().begin()) {
        auto at = std::prev(next);
        uint64_t end = at->first + at->second.bytes;
        if (address + (uint64_t)bytes <= end) {
            last_begin = at->first;
            last_end = end;
            return (uint8_t *)address;
        }
        fault("%s of %lld bytes, %lld bytes after the begin of an allocation of %zu bytes",
              write ? "write" : "read", (long long)bytes, (long long)(address - at->first),
              at->second.bytes);
    }
    fault("%s of %lld bytes at %#llx, below all allocations", write ? "write" : "read",
          (long long)bytes, (unsigned long long)address);
}

/* ---------------------------------------------------------------- addresses -- */

uint64_t address_of(Warp &w, const Ins &i, int lane)
{
    uint64_t base = i.address < 0    ? 0
                    : i.address_wide ? w.u64(i.address)[lane]
                                     : w.u32(i.address)[lane];
    return base + (uint64_t)i.offset;
}

static uint8_t *shared(Warp &w, uint64_t address, int64_t bytes, Block **block)
{
    uint32_t a = (uint32_t)address, rank = a >> 24, offset = a & 0xffffff;
    Block *b = w.block;
    if (rank) {
        if (rank > b->cluster->blocks.size())
            fault("shared memory of block %u in a cluster of %zu", rank - 1,
                  b->cluster->blocks.size());
        b = b->cluster->blocks[rank - 1];
        if (b->live_warps == 0)
            fault("shared memory of block %u of the cluster, which has ended", rank - 1);
    }
    if (offset < RESERVED || offset + bytes > (int64_t)b->shared.size())
        fault("shared memory at %lld of %lld bytes", (long long)offset - RESERVED,
              (long long)b->shared.size() - RESERVED);
    *block = b;
    return b->shared.data() + offset;
}

uint8_t *resolve(Warp &w, int lane, Space space, uint64_t address, int64_t bytes, int align,
                 bool write)
{
    if (address & (uint64_t)(align - 1))
        fault("lane %d: misaligned: address %#llx, to be a multiple of %d", lane,
              (unsigned long long)address, align);
    if (space == GENERIC)
        for (Space s : {SHARED, LOCAL, PARAM})
            if ((address ^ tag(s)) >> 56 == 0) space = s;
    try {
        switch (space) {
        case SHARED: {
            Block *block;
            uint8_t *at = shared(w, address, bytes, &block);
            if (write) wrote_shared(w, block, at, bytes);
            return at;
        }
        case LOCAL: {
            uint64_t offset = address & 0xffffffff;
            int64_t size = w.block->grid->kernel->local_bytes;
            if ((int64_t)offset + bytes > size)
                fault("local memory at %llu of %lld", (unsigned long long)offset, (long long)size);
            return w.local + lane * size + offset;
        }
        case PARAM: {
            uint64_t offset = address & 0xffffffff;
            if (offset + (uint64_t)bytes > w.block->grid->params.size())
                fault("parameters at %llu", (unsigned long long)offset);
            if (write) fault("a write to parameters");
            return w.block->grid->params.data() + offset;
        }
        default:
            return device_memory(address, bytes, write);
        }
    } catch (const Fault &f) {
        throw Fault(say("lane %d: ", lane) + f.what());
    }
}

/* What TMA and wgmma read must have been fenced by the warp that wrote it (PTX ISA, "Async proxy").
 */
void wrote_shared(Warp &w, Block *block, const uint8_t *at, int64_t bytes)
{
    int64_t first = at - block->shared.data();
    for (int64_t k = first / 16; k <= (first + bytes - 1) / 16; k++)
        block->unfenced[k] = (uint16_t)(w.index + 1);
}

void async_reads(Warp &w, const Ins &i, Block *block, const uint8_t *at, int64_t bytes)
{
    int64_t first = at - block->shared.data();
    for (int64_t k = first / 16; k <= (first + bytes - 1) / 16; k++)
        if (block->unfenced[k]) {
            finding(w, i,
                    say("reads shared memory that warp %d wrote without a fence.proxy.async since",
                        block->unfenced[k] - 1));
            return;
        }
}

void fence_async(Warp &w)
{
    for (uint16_t &who : w.block->unfenced)
        if (who == w.index + 1) who = 0;
}

} // namespace emu
