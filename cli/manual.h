// trnsim(1): the manual page, made from the verbs and their options.
#pragma once

#include <string>

namespace cli {

/// In troff with the man macros.
std::string manual_page();

}  // namespace cli
