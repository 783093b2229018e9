#include "isa/check/shapes.h"

#include <algorithm>

namespace isa::rule {

void need_shape(std::string_view name, const Tile& tile, std::int64_t partitions, std::int64_t cols) {
  if (tile.partitions == partitions && tile.cols() == cols) return;
  breach("change the tile", "{} is [{}, {}] but must be [{}, {}]", name, tile.partitions, tile.cols(), partitions,
         cols);
}

void need_same_shape(std::string_view name, const Tile& tile, std::string_view other_name, const Tile& other) {
  if (tile.partitions == other.partitions && tile.cols() == other.cols()) return;
  breach("make them agree", "{} is [{}, {}] but {} is [{}, {}]", name, tile.partitions, tile.cols(), other_name,
         other.partitions, other.cols());
}

void need_column_if(std::string_view name, const Tile& tile, std::int64_t partitions) {
  if (tile) need_shape(name, tile, partitions, 1);
}

void need_type(std::string_view name, const Tile& tile, std::initializer_list<Dtype> allowed) {
  if (std::ranges::find(allowed, tile.dtype) != allowed.end()) return;
  std::string names;
  for (const Dtype dtype : allowed) names += fmt::format("{}{}", names.empty() ? "" : " or ", name_of(dtype));
  breach(fmt::format("make it {}", names), "{} is {}", name, name_of(tile.dtype));
}

void need_same_type(std::string_view name, const Tile& tile, std::string_view other_name, const Tile& other) {
  if (tile.dtype == other.dtype) return;
  breach("make them agree", "{} is {} but {} is {}", name, name_of(tile.dtype), other_name, name_of(other.dtype));
}

void not_both_psum(std::string_view name, const Tile& tile, std::string_view other_name, const Tile& other) {
  if (tile.space == Space::kPsum && other.space == Space::kPsum)
    breach("copy one of them to SBUF first", "{} and {} are both in PSUM", name, other_name);
}

}  // namespace isa::rule
