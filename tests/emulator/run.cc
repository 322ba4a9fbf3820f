/*
 * run.cc - a grid, one warp at a time, on one thread. As many blocks live together as the emulated
 * card holds. Which warp goes next, for how long, which of its diverged lanes first, and when an
 * asynchronous copy lands is drawn from EMULATOR_SEED, so that other seeds are other orders.
 */
#include <algorithm>
#include <cstdlib>
#include <set>

#include "emulator.h"

namespace emu
{

int multiprocessors(void)
{
    const char *text = getenv("EMULATOR_SMS");
    return text && atoi(text) > 0 ? atoi(text) : 4;
}

static string place(const Kernel &k, const Ins &i)
{
    auto file = k.module->files.find(i.file);
    return say("%s\n    PTX line %d: %s\n    source %s:%d", k.name.c_str(), i.line,
               i.text.substr(0, 160).c_str(),
               file == k.module->files.end() ? "?" : file->second.c_str(), i.source);
}

void finding(Warp &w, const Ins &i, const string &text)
{
    static std::set<string> said;
    const Kernel &k = *w.block->grid->kernel;
    if (!said.insert(k.name + std::to_string(i.line)).second) return;
    fprintf(stderr, "emulator: FOUND: %s\n    block %d, warp %d of %s\n", text.c_str(),
            w.block->id[0], w.index, place(k, i).c_str());
}

/* ------------------------------------------------------------------- blocks -- */

static uint32_t special(const Block &b, int thread, const string &n)
{
    const Grid &g = *b.grid;
    auto axis = [&](const char *name) { /* "tid" of "tid.y": 1 */
                                        size_t length = strlen(name);
                                        return n.size() == length + 2 &&
                                                       n.compare(0, length, name) == 0 &&
                                                       n[length] == '.'
                                                   ? n[length + 1] - 'x'
                                                   : -1;
    };
    int t[3] = {thread % g.block[0], thread / g.block[0] % g.block[1],
                thread / (g.block[0] * g.block[1])};
    int a, lane = thread % LANES;
    if ((a = axis("tid")) >= 0) return (uint32_t)t[a];
    if ((a = axis("ntid")) >= 0) return (uint32_t)g.block[a];
    if ((a = axis("ctaid")) >= 0) return (uint32_t)b.id[a];
    if ((a = axis("nctaid")) >= 0) return (uint32_t)g.dim[a];
    if ((a = axis("cluster_ctaid")) >= 0) return (uint32_t)(b.id[a] % g.cluster[a]);
    if ((a = axis("cluster_nctaid")) >= 0) return (uint32_t)g.cluster[a];
    if ((a = axis("clusterid")) >= 0) return (uint32_t)(b.id[a] / g.cluster[a]);
    if ((a = axis("nclusterid")) >= 0) return (uint32_t)(g.dim[a] / g.cluster[a]);
    if (n == "cluster_ctarank") return (uint32_t)b.rank;
    if (n == "cluster_nctarank") return (uint32_t)b.cluster->blocks.size();
    if (n == "laneid") return (uint32_t)lane;
    if (n == "warpid") return (uint32_t)(thread / LANES);
    if (n == "nwarpid") return (uint32_t)b.warps.size();
    if (n == "smid") return (uint32_t)b.id[0] % (uint32_t)multiprocessors();
    if (n == "nsmid") return (uint32_t)multiprocessors();
    if (n == "lanemask_eq") return 1u << lane;
    if (n == "lanemask_lt") return (1u << lane) - 1;
    if (n == "lanemask_le") return (2u << lane) - 1;
    if (n == "lanemask_gt") return ~((2u << lane) - 1);
    if (n == "lanemask_ge") return ~((1u << lane) - 1);
    if (n == "dynamic_smem_size") return (uint32_t)g.dynamic_bytes;
    if (n == "total_smem_size") return (uint32_t)b.shared.size();
    if (n == "clock" || n == "clock_hi" || n == "clock64" || n == "globaltimer" || n == "gridid")
        return 0;
    fault("special register %%%s is not handled", n.c_str());
}

static std::unique_ptr<Block> make_block(Grid &g, Cluster *cluster, int rank, const int id[3])
{
    const Kernel &k = *g.kernel;
    auto b = std::make_unique<Block>();
    b->grid = &g;
    b->cluster = cluster;
    b->rank = rank;
    std::copy(id, id + 3, b->id);
    int64_t bytes = k.dynamic_offset + g.dynamic_bytes;
    b->shared.assign((size_t)bytes, 0xff);
    b->unfenced.assign((size_t)bytes / 16 + 1, 0);
    b->threads = g.block[0] * g.block[1] * g.block[2];
    int warps = (b->threads + LANES - 1) / LANES;
    b->regs.resize((size_t)warps * (size_t)k.words);
    b->local.assign((size_t)(warps * LANES * k.local_bytes), 0xff);
    b->warps.resize((size_t)warps);
    b->live_warps = warps;
    cluster->live += b->threads;
    cluster->blocks.push_back(b.get());
    return b;
}

/* After all blocks of the cluster are there. */
static void fill_registers(Block &b)
{
    const Kernel &k = *b.grid->kernel;
    for (size_t n = 0; n < b.warps.size(); n++) {
        Warp &w = b.warps[n];
        w.block = &b;
        w.index = (int)n;
        w.regs = b.regs.data() + n * (size_t)k.words;
        w.local = b.local.data() + n * LANES * (size_t)k.local_bytes;
        int lanes = std::min(LANES, b.threads - (int)n * LANES);
        w.live = lanes == LANES ? ~0u : (1u << lanes) - 1;
        w.groups = {{0, w.live, false}};
        w.products.emplace_back();
        std::copy(b.grid->image.begin(), b.grid->image.end(), w.regs);
        for (auto &s : k.specials) {
            /* Others are the same in all lanes. */
            bool of_lane =
                s.second.compare(0, 3, "tid") == 0 || s.second.compare(0, 4, "lane") == 0;
            std::fill_n(w.u32(s.first), LANES, special(b, (int)n * LANES, s.second));
            for (int l = 1; of_lane && l < LANES; l++)
                w.u32(s.first)[l] = special(b, (int)n * LANES + l, s.second);
        }
    }
}

/* -------------------------------------------------------------------- warps -- */

static void end_warp(Warp &w)
{
    finish_copies(w, ~0u, -1);
    if (w.products.size() > 1 || !w.products[0].empty()) {
        finding(w, w.block->grid->kernel->code.back(),
                "ends with products of wgmma that it has not waited for");
        w.products.emplace_back();
        finish_products(w, 0);
    }
    finish_stores(w, ~0u, -1);
    Block &b = *w.block;
    b.live_warps--;
    for (Barrier &barrier :
         b.barriers) /* those that wait for all of the block wait for one warp less */
        if (barrier.all && barrier.arrived && barrier.arrived == b.live_warps) {
            barrier.arrived = 0;
            barrier.phase++;
        }
    if (b.live_warps == 0) {
        Cluster &c = *b.cluster;
        c.live -= b.threads;
        if (c.live && c.arrived >= c.live) c.arrived = 0, c.phase++;
    }
}

/* The diverged lanes that go on: those at the lowest place, which is where others join them; now
 * and then any. */
static bool choose(Warp &w)
{
    for (size_t a = 0; a < w.groups.size(); a++)
        for (size_t b = a + 1; b < w.groups.size();)
            if (w.groups[a].pc == w.groups[b].pc) {
                w.groups[a].mask |= w.groups[b].mask;
                w.groups[a].stuck = false;
                w.groups.erase(w.groups.begin() + (long)b);
            } else
                b++;
    size_t best = w.groups.size();
    for (size_t a = 0; a < w.groups.size(); a++)
        if (!w.groups[a].stuck && (best == w.groups.size() || w.groups[a].pc < w.groups[best].pc))
            best = a;
    if (best == w.groups.size()) return false;
    w.current = best;
    return true;
}

/* Up to `steps` instructions; false: none could be done. */
static bool run_warp(Warp &w, int steps)
{
    Grid &g = *w.block->grid;
    const Ins *code = g.kernel->code.data();
    const int size = (int)g.kernel->code.size();
    bool moved = false, any = g.chance(8) == 0;
    for (Group &group : w.groups)
        group.stuck = false;
    w.current = 0;
    if (any && w.groups.size() > 1) w.current = g.chance((uint32_t)w.groups.size());
    while (steps-- > 0) {
        if (w.groups.size() > 1 && (!any || w.groups[w.current].stuck) && !choose(w)) return moved;
        Group &group = w.groups[w.current];
        if (group.pc >= size) fault("kernel %s: runs past its end", g.kernel->name.c_str());
        const Ins &i = code[group.pc];
        uint32_t mask = group.mask;
        if (i.guard >= 0) {
            const uint32_t *p = w.u32(i.guard);
            uint32_t yes = 0;
            for (int l = 0; l < LANES; l++)
                yes |= (uint32_t)(p[l] != 0) << l;
            mask &= i.guard_not ? ~yes : yes;
            if (!mask) {
                group.pc++;
                moved = true;
                continue;
            }
        }
        Run result;
        try {
            result = i.run(w, i, mask);
        } catch (const Fault &f) {
            throw Fault(say("%s\n    block (%d, %d, %d), warp %d of ", f.what(), w.block->id[0],
                            w.block->id[1], w.block->id[2], w.index) +
                        place(*g.kernel, i));
        }
        if (result == BLOCKED) {
            w.groups[w.current].stuck = true;
            if (w.groups.size() == 1 || !choose(w)) return moved;
            any = false;
            steps++; /* with none left, lanes that can go on would pass for a deadlock */
            continue;
        }
        moved = true;
        if (result == NEXT)
            w.groups[w.current].pc++;
        else if (w.groups.empty()) {
            end_warp(w);
            return true;
        }
    }
    return moved;
}

/* --------------------------------------------------------------------- grid -- */

static int blocks_per_sm(const Kernel &k, int threads, int64_t dynamic_bytes)
{
    int64_t shared = k.dynamic_offset + dynamic_bytes;
    int64_t by_shared = (228 << 10) / shared, by_threads = 2048 / ((threads + 31) / 32 * 32);
    int64_t n = std::min<int64_t>({by_shared, by_threads, 32});
    /* Registers are not known: what the kernel asks for, else 64 for each thread. */
    int64_t by_registers = k.min_blocks ? k.min_blocks : std::max(1, 1024 / threads);
    return (int)std::max<int64_t>(0, std::min(n, by_registers));
}

int occupancy(const Kernel &k, int threads, int64_t dynamic_bytes)
{
    return k.dynamic_offset + dynamic_bytes > 228 << 10 ? 0
                                                        : blocks_per_sm(k, threads, dynamic_bytes);
}

[[noreturn]] static void deadlock(const std::vector<Block *> &alive)
{
    string text = "no warp can go on";
    int said = 0;
    for (Block *b : alive)
        for (Warp &w : b->warps)
            for (Group &g : w.groups)
                if (said++ < 12)
                    text += say("\n    block %d, warp %d, lanes %08x wait at ", b->id[0], w.index,
                                g.mask) +
                            place(*b->grid->kernel, b->grid->kernel->code[(size_t)g.pc]);
    throw Fault(text);
}

void launch(Grid &g)
{
    const char *seed = getenv("EMULATOR_SEED");
    g.random = seed ? strtoull(seed, nullptr, 0) * 77 + 1 : 1;
    for (int a = 0; a < 3; a++) {
        if (!g.cluster[a]) g.cluster[a] = 1;
        if (g.dim[a] % g.cluster[a])
            fault("kernel %s: a grid that is no multiple of its clusters", g.kernel->name.c_str());
    }
    const int threads = g.block[0] * g.block[1] * g.block[2];
    const int64_t cluster_size = (int64_t)g.cluster[0] * g.cluster[1] * g.cluster[2];
    const int64_t clusters = (int64_t)g.dim[0] * g.dim[1] * g.dim[2] / cluster_size;
    const int64_t room = std::max<int64_t>(
        1,
        multiprocessors() * (int64_t)occupancy(*g.kernel, threads, g.dynamic_bytes) / cluster_size);
    g.image.assign((size_t)g.kernel->words, 0xcdcdcdcd);
    for (auto &c : g.kernel->constants)
        std::fill_n(&g.image[(size_t)c.first], LANES, (uint32_t)c.second);
    for (auto &c : g.kernel->wide_constants)
        std::fill_n((uint64_t *)&g.image[(size_t)c.first], LANES, c.second);
    std::vector<std::unique_ptr<Cluster>> live_clusters;
    std::vector<std::unique_ptr<Block>> blocks;
    int64_t next = 0;
    while (next < clusters || !blocks.empty()) {
        while (next < clusters && (int64_t)live_clusters.size() < room) {
            auto cluster = std::make_unique<Cluster>();
            int64_t across[3] = {g.dim[0] / g.cluster[0], g.dim[1] / g.cluster[1], 0};
            int64_t at[3] = {next % across[0], next / across[0] % across[1],
                             next / across[0] / across[1]};
            size_t first = blocks.size();
            for (int r = 0; r < cluster_size; r++) {
                int in[3] = {r % g.cluster[0], r / g.cluster[0] % g.cluster[1],
                             r / (g.cluster[0] * g.cluster[1])};
                int id[3];
                for (int a = 0; a < 3; a++)
                    id[a] = (int)at[a] * g.cluster[a] + in[a];
                blocks.push_back(make_block(g, cluster.get(), r, id));
            }
            for (size_t b = first; b < blocks.size(); b++)
                fill_registers(*blocks[b]);
            live_clusters.push_back(std::move(cluster));
            next++;
        }
        bool moved = false;
        size_t start = g.chance((uint32_t)blocks.size());
        for (size_t n = 0; n < blocks.size(); n++) {
            Block &b = *blocks[(start + n) % blocks.size()];
            size_t from = g.chance((uint32_t)b.warps.size());
            for (size_t k = 0; k < b.warps.size(); k++) {
                Warp &w = b.warps[(from + k) % b.warps.size()];
                if (!w.groups.empty())
                    moved |= run_warp(w, 1 + (int)g.chance(g.chance(4) ? 64 : 1024));
            }
        }
        /* Copies land in any order. */
        for (size_t n = 0; n < g.pending.size();)
            if (g.chance(3) == 0 || !moved) {
                auto run = std::move(g.pending[n]);
                g.pending.erase(g.pending.begin() + (long)n);
                run();
                moved = true;
            } else
                n++;
        if (!moved) {
            std::vector<Block *> alive;
            for (auto &b : blocks)
                alive.push_back(b.get());
            deadlock(alive);
        }
        for (size_t c = 0; c < live_clusters.size();) {
            if (live_clusters[c]->live) {
                c++;
                continue;
            }
            if (!g.pending.empty()) {
                for (auto &run : g.pending)
                    run();
                g.pending.clear();
            }
            Cluster *dead = live_clusters[c].get();
            blocks.erase(std::remove_if(blocks.begin(), blocks.end(),
                                        [&](auto &b) { return b->cluster == dead; }),
                         blocks.end());
            live_clusters.erase(live_clusters.begin() + (long)c);
        }
    }
}

} // namespace emu
