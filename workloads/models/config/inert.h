// Keys of a config.json that nothing reads.
#pragma once

#include "workloads/models/config/keys.h"
#include "workloads/models/model.h"

namespace workloads {

/// Errors: Fault::kData where the file names code of its own (auto_map) with a class of another name than
/// `architecture`, that of the family which transformers has. Before the family reads its keys: such a file has others.
void refuse_other_class(const Keys& keys, std::string_view architecture);
/// After a family has read its keys. Errors: Fault::kData where the file names code of its own and has keys that the
/// family's code does not read.
void refuse_other_code(const Keys& keys);
/// After a family has read its keys: warns of keys that no one read and whose values are neither off nor known to
/// change nothing. transformers takes any key in silence, so most of them change nothing there; a file cannot say which
/// do.
void warn_of_unread(const Keys& keys);
/// Warns of a file that was saved from a class whose head is none of those that the answer can be about: one that marks
/// answers in a text, a decoder that classifies tokens, an encoder alone.
void warn_of_other_head(const Keys& keys, const Model& model);

}  // namespace workloads
