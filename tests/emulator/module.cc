/*
 * module.cc - a PTX module: what stands outside functions (PTX ISA, "Directives"), and where its
 * kernels begin.
 */
#include <cctype>
#include <cstdlib>

#include "text.h"

namespace emu
{

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

void scan(Module &m)
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
            i = closing_brace(t, body) + 1;
        } else {
            size_t semicolon = t.find(';', i);
            if (semicolon == string::npos) break;
            string statement = t.substr(i, semicolon - i), initial;
            if (statement.find(".shared") != string::npos ||
                statement.find(".global") != string::npos ||
                statement.find(".const") != string::npos) {
                Variable v = variable(statement, &initial);
                if (v.space == GLOBAL) {
                    string head = trim(statement.substr(0, statement.find(v.name)));
                    int bytes = type_bytes(head.substr(head.find_last_of('.') + 1));
                    fill_variable(v, initial, bytes);
                }
                m.variables[v.name] = v;
            }
            i = semicolon + 1;
        }
    }
}

} // namespace emu
