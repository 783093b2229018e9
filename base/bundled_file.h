// Parameter files of this installation.
#pragma once

#include <string>

#include "base/param_file.h"

namespace base {

/// The file of that name under data_path(). It is read once, however often it is asked for: a search over plans asks
/// for the same few hundreds of times. Errors: as ParamFile::load().
ParamFile bundled_file(const std::string& name);

}  // namespace base
