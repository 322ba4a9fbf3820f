/*
 * operand.cc - operands of instructions as slots, constants and addresses (PTX ISA, "Instruction
 * Operands" and "State Spaces, Types, and Variables"), and what a builder asks of them.
 */
#include <cctype>
#include <cstdlib>

#include "parser.h"

namespace emu
{

int Parser::allocate(bool wide)
{
    int at = kernel.words;
    kernel.words += LANES * (wide ? 2 : 1);
    return at;
}

bool Parser::find_register(const string &name, Register *out)
{
    string prefix = name;
    while (!prefix.empty() && isdigit((unsigned char)prefix.back()))
        prefix.pop_back();
    for (size_t s = scopes.size(); s-- > 0;) {
        Scope &scope = scopes[s];
        auto known = scope.registers.find(name);
        if (known != scope.registers.end()) {
            *out = known->second;
            return true;
        }
        auto type = scope.types.find(name);
        if (type == scope.types.end()) type = scope.types.find(prefix + "<");
        if (type == scope.types.end()) continue;
        bool wide = type_bytes(type->second) == 8;
        *out = scope.registers[name] = {allocate(wide), wide};
        return true;
    }
    return false;
}

void Parser::declare(const string &statement)
{
    string rest = trim(statement.substr(4));
    size_t space = rest.find_first_of(" \t");
    string type = rest.substr(1, space - 1);
    for (string name : split(rest.substr(space))) {
        size_t less = name.find('<');
        scopes.back().types[less == string::npos ? name : name.substr(0, less + 1)] = type;
    }
}

bool Parser::symbol(const string &name, int64_t *value, Space *space)
{
    for (const Param &p : kernel.params)
        if (p.name == name) {
            *value = p.offset;
            *space = PARAM;
            return true;
        }
    auto local = locals.find(name);
    const Variable *v = local != locals.end() ? &local->second : nullptr;
    if (!v) {
        auto global = module.variables.find(name);
        if (global == module.variables.end()) return false;
        v = &global->second;
    }
    *space = v->space;
    if (v->space == GLOBAL) {
        *value = (int64_t)v->data;
        return true;
    }
    auto at = placed.find(name);
    if (at == placed.end()) {
        int64_t &used = v->space == SHARED ? kernel.shared_bytes : kernel.local_bytes;
        int64_t offset;
        if (v->dynamic)
            offset = -v->align; /* known when all static ones are: see finish */
        else {
            offset = (used + v->align - 1) / v->align * v->align;
            used = offset + v->bytes;
            if (v->space == SHARED) offset += RESERVED;
        }
        at = placed.emplace(name, offset).first;
    }
    *value = at->second;
    return true;
}

Arg Parser::argument(const string &text)
{
    Arg a;
    if (text.empty()) fault("empty operand");
    if (text[0] == '[') {
        std::vector<string> part = split(text.substr(1, text.find_last_of(']') - 1));
        a.kind = Arg::MEM;
        size_t plus = part[0].find('+');
        string base = trim(part[0].substr(0, plus));
        Arg inner = argument(base);
        a.slot = inner.kind == Arg::REG ? inner.slot : -1;
        a.wide = inner.wide;
        a.value = inner.kind == Arg::IMM ? inner.value : 0;
        a.name = inner.name;
        if (plus != string::npos) a.value += strtoll(part[0].c_str() + plus + 1, nullptr, 0);
        if (part.size() > 1) a.vec = argument(part[1]).vec;
        return a;
    }
    if (text[0] == '{') {
        a.kind = Arg::VEC;
        for (const string &p : split(text.substr(1, text.find_last_of('}') - 1)))
            a.vec.push_back(argument(p));
        return a;
    }
    if (text[0] == '!') {
        a = argument(trim(text.substr(1)));
        a.negated = true;
        return a;
    }
    size_t bar = text.find('|');
    if (bar != string::npos) {
        a = argument(trim(text.substr(0, bar)));
        a.second = argument(trim(text.substr(bar + 1))).slot;
        return a;
    }
    a.kind = Arg::IMM;
    if (text == "_") {
        a.kind = Arg::REG;
        a.slot = allocate(true);
        a.name = "_";
        return a;
    }
    if (text[0] == '0' && text.size() > 2 &&
        (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D')) {
        a.value = (int64_t)strtoull(text.c_str() + 2, nullptr, 16);
        return a;
    }
    if (isdigit((unsigned char)text[0]) || text[0] == '-') {
        a.value = text[0] == '-' ? strtoll(text.c_str(), nullptr, 0)
                                 : (int64_t)strtoull(text.c_str(), nullptr, 0);
        return a;
    }
    if (text == "WARP_SZ") {
        a.value = 32;
        return a;
    }
    Register r;
    if (find_register(text, &r)) {
        a.kind = Arg::REG;
        a.slot = r.slot;
        a.wide = r.wide;
        return a;
    }
    Space space;
    if (symbol(text, &a.value, &space)) {
        a.name = text;
        return a;
    }
    if (text[0] == '%') {
        string name = text.substr(1);
        a.kind = Arg::REG;
        a.name = name;
        a.wide = name == "clock64" || name == "globaltimer" || name == "gridid";
        auto known = special.find(name);
        if (known == special.end()) {
            known = special.emplace(name, allocate(a.wide)).first;
            kernel.specials.push_back({known->second, name});
        }
        a.slot = known->second;
        return a;
    }
    a.kind = Arg::LABEL;
    a.name = text;
    return a;
}

int Parser::constant_slot(uint64_t bits, bool wide)
{
    auto known = constant.find({bits, wide});
    if (known != constant.end()) return known->second;
    int slot = allocate(wide);
    constant[{bits, wide}] = slot;
    (wide ? kernel.wide_constants : kernel.constants).push_back({slot, bits});
    return slot;
}

bool Builder::has(const char *p) const
{
    for (size_t i = 1; i < part.size(); i++)
        if (part[i] == p) return true;
    return false;
}

int Builder::slot_of(Arg &a, bool wide)
{
    if (a.name == "_") return a.slot;
    if (a.kind == Arg::REG) {
        if (a.wide != wide)
            fault("operand of %d bytes where %d are wanted: %s", a.wide ? 8 : 4, wide ? 8 : 4,
                  ins.text.c_str());
        return a.slot;
    }
    if (a.kind != Arg::IMM) fault("operand not handled: %s", ins.text.c_str());
    return Parser::current->constant_slot(wide ? (uint64_t)a.value : (uint32_t)a.value, wide);
}

int Builder::slot(int arg, bool wide)
{
    if (arg >= (int)args.size()) fault("too few operands: %s", ins.text.c_str());
    return slot_of(args[arg], wide);
}

std::vector<int> Builder::slots(int arg, bool wide)
{
    std::vector<int> out;
    if (args[arg].kind != Arg::VEC) return {slot(arg, wide)};
    for (Arg &a : args[arg].vec)
        out.push_back(slot_of(a, wide));
    return out;
}

void Builder::address(int arg)
{
    Arg &a = args[arg];
    if (a.kind != Arg::MEM) fault("an address is wanted: %s", ins.text.c_str());
    ins.address = a.slot;
    ins.address_wide = a.wide;
    ins.offset = a.value;
}

Space Builder::space() const
{
    for (size_t i = 1; i < part.size(); i++) {
        const string &p = part[i];
        if (p == "global" || p == "const") return GLOBAL;
        if (p == "shared" || p == "shared::cta" || p == "shared::cluster") return SHARED;
        if (p == "local") return LOCAL;
        if (p == "param" || p == "param::entry") return PARAM;
    }
    return GENERIC;
}

} // namespace emu
