/*
 * emulator.h - PTX run on the host, for correctness: what the parts of the emulator share.
 *
 * A kernel is read from the PTX in the program (parse.cc) into instructions, each with the function
 * that runs it for the lanes of a warp. Registers lie as 32 lanes side by side, of 4 or 8 bytes
 * each: a "slot" is the offset of a register from the warp's `regs`, in words of 4 bytes.
 * Immediates and special registers have slots too, filled before a warp starts.
 *
 * Addresses: device memory is memory of this process. The other spaces have a tag in the highest
 * byte of a generic address. An address in the shared window is (rank + 1) << 24 | offset, or the
 * offset alone for the block's own.
 */
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace emu
{

using std::string;

enum Run { NEXT, JUMP, BLOCKED };
enum Space { GENERIC, GLOBAL, SHARED, LOCAL, PARAM };

static constexpr int LANES = 32;
static constexpr int RESERVED = 1024; /* shared memory of a block that is the system's */
static constexpr uint64_t tag(Space s)
{
    return s <= GLOBAL ? 0 : (uint64_t)(0x70 + s) << 56;
}

struct Warp;
struct Ins;
using Fn = Run (*)(Warp &, const Ins &, uint32_t);

/* One operand. A register or immediate has a slot; `[base + off, {vec}]` is an address. */
struct Arg {
    enum Kind { NONE, REG, IMM, VEC, MEM, LABEL } kind = NONE;
    int slot = -1, second = -1; /* second: of `d|p` */
    bool wide = false, negated = false;
    int64_t value = 0; /* IMM: its bits; MEM: the offset */
    std::vector<Arg> vec;
    string name;
};

struct Ins {
    Fn run = nullptr;
    int guard = -1; /* slot of the predicate */
    bool guard_not = false;
    int s[5] = {-1, -1, -1, -1, -1}; /* slots of plain operands */
    int target = 0;
    /* Of memory accesses and collective instructions. */
    Space space = GENERIC;
    uint8_t bytes = 0, count = 1; /* of an element; elements */
    char kind = 'u';
    bool address_wide = true;
    int address = -1; /* slot, or -1 where it is `offset` alone */
    int64_t offset = 0;
    int mode = 0, mode2 = 0;
    std::vector<int> vec, vec2;
    int line = 0, source = 0, file = 0; /* in the PTX; in the source */
    string text;
};

struct Variable {
    string name;
    Space space;
    int64_t bytes, align;
    uint8_t *data = nullptr; /* GLOBAL */
    bool dynamic = false;
};

struct Param {
    string name;
    int offset, bytes;
};

struct Module;

struct Kernel {
    Module *module;
    string name;
    std::vector<Ins> code;
    std::vector<Param> params;
    int param_bytes = 0, words = 0; /* of parameters; of a warp's registers */
    int64_t shared_bytes = 0, local_bytes = 0;
    int max_threads = 1024, min_blocks = 0;
    int cluster[3] = {0, 0, 0};
    int max_dynamic = 48 << 10;                      /* set by attribute */
    std::vector<std::pair<int, string>> specials;    /* slot, name without % */
    std::vector<std::pair<int, uint64_t>> constants; /* slot, bits */
    std::vector<std::pair<int, uint64_t>> wide_constants;
    int dynamic_offset = RESERVED; /* of dynamic shared memory */
};

struct Module {
    string text;
    std::map<string, size_t> entries; /* name -> offset of .entry */
    std::map<string, Variable> variables;
    std::map<int, string> files;
    std::map<string, std::unique_ptr<Kernel>> kernels;
    bool scanned = false;
    Kernel *kernel(const string &name); /* parsed at first use */
};

/* ---------------------------------------------------------------- running -- */

struct Block;

struct Group { /* lanes of a warp at one place */
    int pc;
    uint32_t mask;
    bool stuck;
};

struct Copy { /* cp.async, of one lane */
    uint8_t *to;
    const uint8_t *from;
    int bytes, source_bytes, lane, group;
};

struct Store { /* a bulk copy out of shared memory, of one lane */
    int lane, group;
    std::function<void()> run;
};

struct Wgmma {
    const Ins *ins;
    uint64_t a, b;
    bool adds;
};

struct Warp {
    Block *block;
    int index;
    uint32_t *regs;
    std::vector<Group> groups;
    size_t current = 0;
    uint32_t live = 0;
    uint8_t *local = nullptr;
    int barrier = -1, barrier_phase = 0; /* bar.sync that it has arrived at */
    int registers = 0;                   /* of a lane, by setmaxnreg; 0: those of the launch */
    int cluster_phase[LANES] = {};       /* of the barrier.cluster that a lane has arrived at */
    uint32_t arrived = 0;                /* lanes at barrier.cluster */
    std::vector<Copy> copies;
    int copy_group[LANES] = {};
    std::vector<std::vector<Wgmma>> products; /* groups; the last is open */
    std::vector<Store> stores;
    int store_group[LANES] = {};
    Group &group()
    {
        return groups[current];
    }
    uint32_t *u32(int slot)
    {
        return regs + slot;
    }
    uint64_t *u64(int slot)
    {
        return (uint64_t *)(regs + slot);
    }
    float *f32(int slot)
    {
        return (float *)(regs + slot);
    }
};

struct Barrier {
    int arrived = 0, phase = 0;
    bool all = false; /* waits for every warp of the block that lives */
};

struct Cluster {
    std::vector<Block *> blocks;
    int arrived = 0, phase = 0;
    int live = 0; /* threads */
};

struct Grid;

struct Block {
    Grid *grid;
    Cluster *cluster;
    int rank; /* in the cluster */
    int id[3];
    std::vector<uint8_t> shared;
    std::vector<uint16_t>
        unfenced; /* per 16 bytes: warp + 1 whose writes TMA and wgmma need not see yet */
    std::vector<Warp> warps;
    std::vector<uint32_t> regs;
    std::vector<uint8_t> local;
    Barrier barriers[16];
    int live_warps;
    int threads;
};

struct Grid {
    Kernel *kernel;
    std::vector<uint8_t> params;
    int dim[3], block[3], cluster[3];
    int64_t dynamic_bytes;
    std::vector<uint32_t> image;                /* of a warp's registers when it starts */
    std::vector<std::function<void()>> pending; /* asynchronous copies that have not landed */
    uint64_t random;
    uint32_t chance(uint32_t n) /* 0 to n - 1 */
    {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(random >> 33) % n;
    }
};

/* What a kernel did that it may not. */
struct Fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[gnu::format(printf, 1, 2)]] string say(const char *format, ...);
[[noreturn, gnu::format(printf, 1, 2)]] void fault(const char *format, ...);
/* Reported once per kernel and text; the kernel goes on. */
void finding(Warp &w, const Ins &i, const string &text);

/* Where an access of `bytes` by a lane goes; throws Fault. */
uint8_t *resolve(Warp &w, int lane, Space space, uint64_t address, int64_t bytes, int align,
                 bool write);
uint8_t *device_memory(uint64_t address, int64_t bytes, bool write); /* throws Fault */
uint64_t address_of(Warp &w, const Ins &i, int lane);
/* Ordinary writes to shared memory, and reads of it by TMA and wgmma. */
void wrote_shared(Warp &w, Block *block, const uint8_t *at, int64_t bytes);
void async_reads(Warp &w, const Ins &i, Block *block, const uint8_t *at, int64_t bytes);
void fence_async(Warp &w);

/* f(lane) for each lane of the mask. */
template <class F> void each(uint32_t mask, F f)
{
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1) f(l);
}

/* True if all lanes of `members` that live are here; else the instruction must wait. */
bool whole(Warp &w, uint32_t mask, uint32_t members);

void launch(Grid &grid); /* throws Fault */
void finish_copies(Warp &w, uint32_t mask, int but_last);
void finish_stores(Warp &w, uint32_t mask, int but_last);
void finish_products(Warp &w, size_t but_last);
void complete_bytes(uint8_t *mbarrier, int64_t bytes);
/* Offset of a byte in shared memory, from its offset without swizzle; `swizzle`: bytes of a row: 0,
 * 32, 64, 128. */
constexpr int64_t swizzled(int swizzle, int64_t at)
{
    return swizzle ? at ^ (((at >> 7) & (swizzle / 16 - 1)) << 4) : at;
}

/* ------------------------------------------------------------ instructions -- */

struct Op { /* an arithmetic instruction by name: which operands are 8 bytes */
    Fn run;
    int args;
    bool wide[6];
};
const Op *find_op(const string &name);

/* The parser asks each in turn for an instruction; false: not mine. */
struct Builder {
    Kernel &kernel;
    Ins &ins;
    std::vector<string> part; /* of the opcode */
    std::vector<Arg> args;
    string opcode;
    bool has(const char *p) const;
    int slot(int arg, bool wide); /* of a register or immediate */
    int slot_of(Arg &arg, bool wide);
    std::vector<int> slots(int arg, bool wide); /* of a vector, or of one */
    void address(int arg);
    Space space() const;
};
bool build_memory(Builder &b);
bool build_move(Builder &b);
bool build_warp(Builder &b);
bool build_barrier(Builder &b);
bool build_mbarrier(Builder &b);
bool build_async(Builder &b);
bool build_bulk(Builder &b);
bool build_product(Builder &b);
bool build_wgmma(Builder &b);

Run nothing(Warp &w, const Ins &i, uint32_t mask); /* an instruction without effect here */

/* Sizes of PTX types: "f32" -> 4. */
int type_bytes(const string &type);

/* ------------------------------------------------------------------ numbers -- */

struct Format {
    int exponent_bits, fraction_bits;
    bool infinities; /* e4m3 has none, and one NaN */
};
extern const Format F16, BF16, E4M3, E5M2, TF32;
enum Rounding { TO_EVEN, TO_ZERO, AWAY };
uint32_t encode(const Format &f, double value, Rounding rounding = TO_EVEN, bool finite = false);
double decode(const Format &f, uint32_t bits);

/* ------------------------------------------------------------------- memory -- */

void *memory_alloc(size_t bytes, bool host);
bool memory_free(void *at);
size_t memory_used(void);

int occupancy(const Kernel &k, int threads, int64_t dynamic_bytes); /* blocks per multiprocessor */
int multiprocessors(void);

} // namespace emu
