/* text.h - pieces of PTX text (text.cc). */
#pragma once

#include "emulator.h"

namespace emu
{

bool name_char(char c);
string trim(const string &s);
size_t closing_brace(const string &s, size_t open); /* of the { at `open` */
std::vector<string> split(const string &s);         /* at commas outside brackets, trimmed */
/* `.shared .align 4 .b8 name[12] = {1, 2}`, a declaration or parameter; `initial`, or NULL: what
 * stands behind the = */
Variable variable(const string &statement, string *initial);

} // namespace emu
