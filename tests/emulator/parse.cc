/*
 * parse.cc - a kernel's body as instructions with slots (PTX ISA, "Syntax" and "Directives"): see
 * emulator.h.
 */
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "parser.h"

namespace emu
{

Parser *Parser::current;

void Parser::instruction(string text, int line, int file, int source)
{
    Ins ins;
    ins.line = line;
    ins.file = file;
    ins.source = source;
    ins.text = trim(text);
    for (char &c : ins.text)
        if (c == '\n' || c == '\t') c = ' ';
    string rest = ins.text;
    if (rest[0] == '@') {
        size_t space = rest.find_first_of(" ");
        string name = rest.substr(1, space - 1);
        ins.guard_not = name[0] == '!';
        ins.guard = argument(ins.guard_not ? name.substr(1) : name).slot;
        rest = trim(rest.substr(space));
    }
    size_t space = rest.find_first_of(" \t");
    Builder b{kernel, ins, {}, {}, rest.substr(0, space)};
    string part;
    for (char c : b.opcode + ".")
        if (c == '.')
            b.part.push_back(part), part.clear();
        else
            part += c;
    if (space != string::npos)
        for (const string &operand : split(rest.substr(space)))
            b.args.push_back(argument(operand));
    current = this;
    if (!build_warp(b) && !build_memory(b) && !build_async(b) && !build_product(b) &&
        !arithmetic(b))
        fault("instruction not handled: %s", ins.text.c_str());
    if (!b.args.empty() && b.part[0] == "bra") {
        std::vector<string> keys;
        for (size_t s = scopes.size(); s-- > 0;)
            keys.push_back(std::to_string(scopes[s].id) + ":" + b.args[0].name);
        jumps.push_back({(int)kernel.code.size(), keys});
    }
    kernel.code.push_back(std::move(ins));
}

int Parser::narrowed(const Ins &of, int slot)
{
    Ins copy = of;
    copy.run = find_op("cvt.u32.u64")->run;
    copy.s[0] = allocate(false);
    copy.s[1] = slot;
    kernel.code.push_back(copy);
    return copy.s[0];
}

/* By its whole name, then without what does not change the result here. */
bool Parser::arithmetic(Builder &b)
{
    static const std::set<string> dropped = {"ftz", "rn", "approx", "full", "lo", "uni", "noftz"};
    const Op *op = find_op(b.opcode);
    if (!op) {
        string name = b.part[0];
        for (size_t i = 1; i < b.part.size(); i++)
            if (!dropped.count(b.part[i]) || (b.part[0] == "mul24")) name += "." + b.part[i];
        op = find_op(name);
    }
    if (!op) return false;
    if ((int)b.args.size() != op->args) return false;
    const bool converts = b.part[0] == "cvt";
    for (int i = 0; i < op->args; i++) {
        Arg &a = b.args[i];
        if (a.negated) fault("negated operand not handled: %s", b.ins.text.c_str());
        if (converts && i > 0 && a.kind == Arg::REG && a.wide && !op->wide[i])
            b.ins.s[i] = narrowed(b.ins, a.slot);
        else
            b.ins.s[i] = b.slot(i, op->wide[i]);
    }
    b.ins.run = op->run;
    return true;
}

void Parser::body(size_t i)
{
    const string &t = module.text;
    int line = 1, source = 0, file = 0;
    for (size_t k = 0; k < i; k++)
        line += t[k] == '\n';
    auto advance = [&](size_t to) {
        for (; i < to; i++)
            line += t[i] == '\n';
    };
    do {
        if (isspace((unsigned char)t[i])) {
            advance(i + 1);
        } else if (t[i] == '{') {
            scopes.push_back({scope_count++, {}, {}});
            i++;
        } else if (t[i] == '}') {
            scopes.pop_back();
            i++;
        } else if (t.compare(i, 4, ".loc") == 0 && isspace((unsigned char)t[i + 4])) {
            sscanf(t.c_str() + i, ".loc %d %d", &file, &source);
            advance(t.find('\n', i));
        } else if (t[i] == '.') {
            size_t end = t.find(';', i);
            string statement = t.substr(i, end - i);
            if (statement.find(".reg") == 0)
                declare(statement);
            else if (statement.find(".shared") == 0 || statement.find(".local") == 0) {
                Variable v = variable(statement, nullptr);
                locals[v.name] = v;
            } else if (statement.find(".pragma") != 0)
                fault("directive not handled: %s", statement.c_str());
            advance(end + 1);
        } else if (t[i] == ';') {
            i++;
        } else {
            size_t k = i;
            while (k < t.size() && name_char(t[k]))
                k++;
            if (t[k] == ':' && t[k + 1] != ':') {
                labels[std::to_string(scopes.back().id) + ":" + t.substr(i, k - i)] =
                    (int)kernel.code.size();
                advance(k + 1);
            } else {
                size_t end = t.find(';', i);
                instruction(t.substr(i, end - i), line, file, source);
                advance(end + 1);
            }
        }
    } while (!scopes.empty());
}

static void directives(Kernel &k, const string &text)
{
    auto number = [&](const char *name, int *to, int count) {
        size_t at = text.find(name);
        if (at == string::npos) return;
        const char *p = text.c_str() + at + strlen(name);
        for (int i = 0; i < count; i++) {
            char *end;
            to[i] = (int)strtol(p, &end, 10);
            p = *end == ',' ? end + 1 : end;
            if (*end != ',') {
                for (int j = i + 1; j < count; j++)
                    to[j] = 1;
                break;
            }
        }
    };
    int threads[3] = {0, 0, 0};
    number(".maxntid", threads, 3);
    number(".reqntid", threads, 3);
    if (threads[0]) k.max_threads = threads[0] * threads[1] * threads[2];
    number(".minnctapersm", &k.min_blocks, 1);
    number(".reqnctapercluster", k.cluster, 3);
}

/* `(.param .u64 a, ...)`, and the directives behind it. */
static void head(Kernel &k, const string &text, size_t at, size_t body)
{
    size_t open = text.find_first_of("({", at);
    if (text[open] != '(') return;
    size_t close = text.find(')', open);
    for (const string &p : split(text.substr(open + 1, close - open - 1))) {
        Variable v = variable(p, nullptr);
        int offset = (int)((k.param_bytes + v.align - 1) / v.align * v.align);
        k.params.push_back({v.name, offset, (int)v.bytes});
        k.param_bytes = offset + (int)v.bytes;
    }
    directives(k, text.substr(close, body - close));
}

/* Where dynamic shared memory begins depends on all static variables: those are placed first. */
void Parser::place_shared(size_t body)
{
    const string &text = module.text;
    const size_t end = closing_brace(text, body);
    int64_t dynamic_align = 16, value;
    Space space;
    for (auto &v : module.variables) {
        if (v.second.space != SHARED || text.find(v.first, body) >= end) continue;
        if (v.second.dynamic)
            dynamic_align = std::max(dynamic_align, v.second.align);
        else
            symbol(v.first, &value, &space);
    }
    for (size_t k = text.find(".shared .align", body); k < end;
         k = text.find(".shared .align", k + 1)) {
        size_t semicolon = text.find(';', k);
        if (text.find_first_of("\n", k) < semicolon) continue;
        Variable v = variable(text.substr(k, semicolon - k), nullptr);
        locals[v.name] = v;
        symbol(v.name, &value, &space);
    }
    kernel.dynamic_offset =
        (int)((RESERVED + kernel.shared_bytes + dynamic_align - 1) / dynamic_align * dynamic_align);
    for (auto &v : module.variables)
        if (v.second.space == SHARED && v.second.dynamic) placed[v.first] = kernel.dynamic_offset;
}

/* Each to the label of its name in the innermost scope that has one. */
void Parser::aim_jumps()
{
    for (auto &[jump, keys] : jumps) {
        auto known = [&](const string &key) { return labels.count(key) != 0; };
        auto key = std::find_if(keys.begin(), keys.end(), known);
        if (key == keys.end()) fault("no label for %s", kernel.code[(size_t)jump].text.c_str());
        kernel.code[(size_t)jump].target = labels[*key];
    }
}

Kernel *Module::kernel(const string &name)
{
    if (!scanned) scan(*this);
    auto known = kernels.find(name);
    if (known != kernels.end()) return known->second.get();
    auto at = entries.find(name);
    if (at == entries.end()) fault("no PTX of kernel %s", name.c_str());
    auto kernel = std::make_unique<Kernel>();
    kernel->module = this;
    kernel->name = name;
    const size_t body = text.find('{', at->second);
    try {
        head(*kernel, text, at->second, body);
        Parser parser(*this, *kernel);
        parser.place_shared(body);
        parser.body(body);
        parser.aim_jumps();
    } catch (const Fault &f) {
        fault("kernel %s: %s", name.c_str(), f.what());
    }
    return (kernels[name] = std::move(kernel)).get();
}

} // namespace emu
