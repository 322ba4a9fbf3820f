/* text.cc - pieces of PTX text, and what the emulator says of them. */
#include <cctype>
#include <cstdarg>
#include <cstdlib>

#include "text.h"

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

bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

string trim(const string &s)
{
    size_t a = s.find_first_not_of(" \t\n"), b = s.find_last_not_of(" \t\n");
    return a == string::npos ? "" : s.substr(a, b - a + 1);
}

size_t closing_brace(const string &s, size_t open)
{
    int depth = 0;
    for (size_t i = open; i < s.size(); i++) {
        if (s[i] == '{') depth++;
        if (s[i] == '}' && --depth == 0) return i;
    }
    fault("braces that do not end");
}

std::vector<string> split(const string &s)
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

Variable variable(const string &statement, string *initial)
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

} // namespace emu
