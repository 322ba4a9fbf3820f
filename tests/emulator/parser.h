/* parser.h - a kernel while its body is read: parse.cc reads it, operand.cc its operands. */
#pragma once

#include <set>

#include "text.h"

namespace emu
{

void scan(Module &m); /* what stands outside functions */

struct Register {
    int slot;
    bool wide;
};

struct Scope {
    int id;
    std::map<string, string> types; /* name, or prefix with '<' -> type */
    std::map<string, Register> registers;
};

struct Parser {
    Parser(Module &m, Kernel &k) : module(m), kernel(k)
    {
    }
    Module &module;
    Kernel &kernel;
    std::vector<Scope> scopes;
    int scope_count = 0;
    std::map<string, Variable> locals;
    std::map<string, int64_t> placed;
    std::map<string, int> labels;                           /* "scope:name" */
    std::vector<std::pair<int, std::vector<string>>> jumps; /* instruction, keys from the inside */
    std::map<string, int> special;
    std::map<std::pair<uint64_t, bool>, int> constant;

    int allocate(bool wide); /* a slot */
    bool find_register(const string &name, Register *out);
    void declare(const string &statement); /* .reg .b32 %r<5>, x */
    /* The address of a variable or parameter in its own space. */
    bool symbol(const string &name, int64_t *value, Space *space);
    Arg argument(const string &text);
    int constant_slot(uint64_t bits, bool wide);
    void instruction(string text, int line, int file, int source);
    /* The slot of the lower part of a register of 8 bytes, which cvt may read. */
    int narrowed(const Ins &of, int slot);
    bool arithmetic(Builder &b);
    void place_shared(size_t body);
    void body(size_t at);
    void aim_jumps();
    static Parser *current; /* whom a Builder asks */
};

} // namespace emu
