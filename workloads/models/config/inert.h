// Keys of a config.json that nothing reads.
#pragma once

#include "workloads/models/config/keys.h"

namespace workloads {

/// Errors: Fault::kData where the file names code of its own (auto_map) that is not that of the family which
/// transformers has: a class of another name than `architecture`, or one for which the file has keys that the family's
/// code does not read.
void refuse_other_code(const Keys& keys, std::string_view architecture);
/// After a family has read its keys: warns of keys that no one read and whose values are neither off nor known to
/// change nothing. transformers takes any key in silence, so most of them change nothing there; a file cannot say which
/// do.
void warn_of_unread(const Keys& keys);
/// Warns of an encoder-decoder's file that was saved from another class than the modelled one, which writes a text.
void warn_of_other_head(const Keys& keys);

}  // namespace workloads
