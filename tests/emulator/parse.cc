/* parse.cc - a kernel's PTX as instructions with slots; see emulator.h. */
#include <cctype>
#include <cstdarg>
#include <cstdlib>
#include <set>

#include "emulator.h"

namespace emu
{

string say(const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

void fault(const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    throw Fault(text);
}

int type_bytes(const string &type)
{
    if (type == "pred") return 4;
    if (type == "b128") return 16;
    size_t at = type.find_first_of("0123456789");
    int bits = at == string::npos ? 0 : atoi(type.c_str() + at);
    if (type.find("x2") != string::npos) bits *= 2;
    return bits / 8;
}

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static string trim(const string &s)
{
    size_t a = s.find_first_not_of(" \t\n"), b = s.find_last_not_of(" \t\n");
    return a == string::npos ? "" : s.substr(a, b - a + 1);
}

/* At commas outside brackets. */
static std::vector<string> split(const string &s)
{
    std::vector<string> out;
    int depth = 0;
    string now;
    for (char c : s) {
        if (strchr("{[(", c)) depth++;
        if (strchr("}])", c)) depth--;
        if (c == ',' && depth == 0)
            out.push_back(trim(now)), now.clear();
        else
            now += c;
    }
    if (!trim(now).empty()) out.push_back(trim(now));
    return out;
}

/* ----------------------------------------------------------------- modules -- */

/* Comments become spaces; lines stay. */
static void strip_comments(string &text)
{
    for (size_t i = 0; i + 1 < text.size(); i++) {
        if (text[i] == '"') {
            i = text.find('"', i + 1);
            if (i == string::npos) return;
        }
        if (text[i] != '/') continue;
        if (text[i + 1] == '/')
            while (i < text.size() && text[i] != '\n')
                text[i++] = ' ';
        else if (text[i + 1] == '*')
            for (; i < text.size(); i++) {
                bool end = text[i] == '*' && text[i + 1] == '/';
                if (text[i] != '\n') text[i] = ' ';
                if (end) {
                    text[i + 1] = ' ';
                    break;
                }
            }
    }
}

/* `.shared .align 4 .b8 name[12] = {1, 2}` */
static Variable variable(const string &statement, string *initial)
{
    Variable v;
    v.align = 1;
    v.space = statement.find(".shared") != string::npos  ? SHARED
              : statement.find(".local") != string::npos ? LOCAL
              : statement.find(".param") != string::npos ? PARAM
                                                         : GLOBAL;
    size_t equal = statement.find('=');
    if (initial && equal != string::npos) *initial = statement.substr(equal + 1);
    string head = trim(statement.substr(0, equal));
    size_t align = head.find(".align");
    if (align != string::npos) v.align = atoi(head.c_str() + align + 6);
    int64_t count = 1;
    size_t open = head.find('[');
    if (open != string::npos) {
        count = 1;
        for (size_t at = open; at != string::npos; at = head.find('[', at + 1))
            count *= atoll(head.c_str() + at + 1);
        v.dynamic = count == 0;
        head = trim(head.substr(0, open));
    }
    size_t space = head.find_last_of(" \t");
    v.name = head.substr(space + 1);
    head = trim(head.substr(0, space));
    int bytes = type_bytes(head.substr(head.find_last_of('.') + 1));
    if (bytes > v.align) v.align = bytes;
    v.bytes = count * bytes;
    return v;
}

static void fill_variable(Variable &v, string initial, int bytes)
{
    v.data = (uint8_t *)memory_alloc(v.bytes, false);
    memset(v.data, 0, v.bytes);
    for (char &c : initial)
        if (c == '{' || c == '}') c = ' ';
    int64_t at = 0;
    for (const string &value : split(initial)) {
        uint64_t bits;
        if (value.size() > 2 && (value[1] == 'f' || value[1] == 'd') && value[0] == '0')
            bits = strtoull(value.c_str() + 2, nullptr, 16);
        else if (isdigit((unsigned char)value[0]) || value[0] == '-')
            bits = strtoull(value.c_str(), nullptr, 0);
        else
            fault("variable %s: initial value '%s' is not handled", v.name.c_str(), value.c_str());
        if (at + bytes <= v.bytes) memcpy(v.data + at, &bits, bytes);
        at += bytes;
    }
}

/* What stands outside functions. */
static void scan(Module &m)
{
    m.scanned = true;
    strip_comments(m.text);
    size_t i = 0;
    const string &t = m.text;
    while (i < t.size()) {
        if (isspace((unsigned char)t[i])) {
            i++;
            continue;
        }
        size_t end = t.find_first_of("\n", i);
        if (end == string::npos) end = t.size();
        string line = t.substr(i, end - i);
        if (line.find(".file") == 0) {
            int number = atoi(line.c_str() + 5);
            size_t a = line.find('"'), b = line.find('"', a + 1);
            m.files[number] = line.substr(a + 1, b - a - 1);
            i = end;
        } else if (line.find(".version") == 0 || line.find(".target") == 0 ||
                   line.find(".address_size") == 0) {
            i = end;
        } else if (line.find(".section") == 0) {
            i = t.find('}', i) + 1;
        } else if (line.find(".entry") != string::npos || line.find(".func") != string::npos) {
            size_t entry = t.find(".entry", i);
            if (entry < end) {
                size_t open = t.find_first_of("(\n{", entry);
                m.entries[trim(t.substr(entry + 6, open - entry - 6))] = entry;
            }
            size_t body = t.find_first_of("{;", i);
            if (t[body] == ';') {
                i = body + 1;
                continue;
            }
            int depth = 0;
            for (i = body; i < t.size(); i++) {
                if (t[i] == '{') depth++;
                if (t[i] == '}' && --depth == 0) break;
            }
            i++;
        } else {
            size_t semicolon = t.find(';', i);
            if (semicolon == string::npos) break;
            string statement = t.substr(i, semicolon - i), initial;
            if (statement.find(".shared") != string::npos ||
                statement.find(".global") != string::npos ||
                statement.find(".const") != string::npos) {
                Variable v = variable(statement, &initial);
                if (v.space == GLOBAL) {
                    int bytes = 1;
                    string head = statement.substr(0, statement.find(v.name));
                    bytes = type_bytes(trim(head).substr(trim(head).find_last_of('.') + 1));
                    fill_variable(v, initial, bytes);
                }
                m.variables[v.name] = v;
            }
            i = semicolon + 1;
        }
    }
}

/* ------------------------------------------------------------------- bodies -- */

namespace
{

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

    int allocate(bool wide)
    {
        int at = kernel.words;
        kernel.words += LANES * (wide ? 2 : 1);
        return at;
    }

    bool find_register(const string &name, Register *out)
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

    void declare(const string &statement) /* .reg .b32 %r<5>, x */
    {
        string rest = trim(statement.substr(4));
        size_t space = rest.find_first_of(" \t");
        string type = rest.substr(1, space - 1);
        for (string name : split(rest.substr(space))) {
            size_t less = name.find('<');
            scopes.back().types[less == string::npos ? name : name.substr(0, less + 1)] = type;
        }
    }

    /* The address of a variable in its own space. */
    bool symbol(const string &name, int64_t *value, Space *space)
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

    Arg argument(const string &text)
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

    int constant_slot(uint64_t bits, bool wide)
    {
        auto known = constant.find({bits, wide});
        if (known != constant.end()) return known->second;
        int slot = allocate(wide);
        constant[{bits, wide}] = slot;
        (wide ? kernel.wide_constants : kernel.constants).push_back({slot, bits});
        return slot;
    }

    void instruction(string text, int line, int file, int source)
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

    /* cvt may read the lower part of a register of 8 bytes: the slot of a copy of it. */
    int narrowed(const Ins &of, int slot)
    {
        Ins copy = of;
        copy.run = find_op("cvt.u32.u64")->run;
        copy.s[0] = allocate(false);
        copy.s[1] = slot;
        kernel.code.push_back(copy);
        return copy.s[0];
    }

    bool arithmetic(Builder &b);
    void body(size_t at);
    static Parser *current;
};

Parser *Parser::current;

} // namespace

bool Builder::has(const char *p) const
{
    for (size_t i = 1; i < part.size(); i++)
        if (part[i] == p) return true;
    return false;
}

int Builder::scratch(bool wide)
{
    return Parser::current->allocate(wide);
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
    size_t open = text.find_first_of("({", at->second), body = text.find('{', at->second);
    if (text[open] == '(') {
        size_t close = text.find(')', open);
        for (const string &p : split(text.substr(open + 1, close - open - 1))) {
            Variable v = variable(p, nullptr);
            int offset = (int)((kernel->param_bytes + v.align - 1) / v.align * v.align);
            kernel->params.push_back({v.name, offset, (int)v.bytes});
            kernel->param_bytes = offset + (int)v.bytes;
        }
        directives(*kernel, text.substr(close, body - close));
    }
    Parser parser(*this, *kernel);
    /* Where dynamic shared memory begins depends on all static variables: place those first. */
    size_t end = body;
    for (int depth = 0; end < text.size(); end++) {
        if (text[end] == '{') depth++;
        if (text[end] == '}' && --depth == 0) break;
    }
    int64_t dynamic_align = 16;
    for (auto &v : variables)
        if (v.second.space == SHARED && text.find(v.first, body) < end) {
            if (v.second.dynamic)
                dynamic_align = std::max(dynamic_align, v.second.align);
            else {
                int64_t value;
                Space space;
                parser.symbol(v.first, &value, &space);
            }
        }
    for (size_t k = text.find(".shared .align", body); k < end && k != string::npos;
         k = text.find(".shared .align", k + 1)) {
        size_t semicolon = text.find(';', k);
        if (text.find_first_of("\n", k) < semicolon) continue;
        Variable v = variable(text.substr(k, semicolon - k), nullptr);
        int64_t value;
        Space space;
        parser.locals[v.name] = v;
        parser.symbol(v.name, &value, &space);
    }
    kernel->dynamic_offset = (int)((RESERVED + kernel->shared_bytes + dynamic_align - 1) /
                                   dynamic_align * dynamic_align);
    for (auto &v : variables)
        if (v.second.space == SHARED && v.second.dynamic)
            parser.placed[v.first] = kernel->dynamic_offset;
    try {
        parser.body(body);
    } catch (const Fault &f) {
        fault("kernel %s: %s", name.c_str(), f.what());
    }
    for (auto &jump : parser.jumps) {
        bool found = false;
        for (const string &key : jump.second) {
            auto label = parser.labels.find(key);
            if (label == parser.labels.end()) continue;
            kernel->code[jump.first].target = label->second;
            found = true;
            break;
        }
        if (!found)
            fault("kernel %s: no label for %s", name.c_str(),
                  kernel->code[jump.first].text.c_str());
    }
    return (kernels[name] = std::move(kernel)).get();
}

} // namespace emu
