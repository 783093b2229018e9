// Progress of long work in the library, as a live line on stderr.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace cli {

/// Shows how many of all are done, from the first call until it is destroyed.
std::function<void(std::size_t done, std::size_t all)> progress_of(std::string what, std::string unit);
/// The same of units that take from no time to most of it, as the choices of a search: without rate and ETA.
std::function<void(std::size_t done, std::size_t all)> uneven_progress_of(std::string what, std::string unit);

}  // namespace cli
