// Shape and type comparisons that the rules share. Each throws rule::Breach.
#pragma once

#include <initializer_list>
#include <string_view>

#include "isa/check/breach.h"
#include "isa/tile.h"

namespace isa::rule {

void need_shape(std::string_view name, const Tile& tile, std::int64_t partitions, std::int64_t cols);
/// Same partitions, and as many elements in each: free axes may be folded differently.
void need_same_shape(std::string_view name, const Tile& tile, std::string_view other_name, const Tile& other);
/// [partitions, 1], when the operand is there.
void need_column_if(std::string_view name, const Tile& tile, std::int64_t partitions);
void need_type(std::string_view name, const Tile& tile, std::initializer_list<Dtype> allowed);
void need_same_type(std::string_view name, const Tile& tile, std::string_view other_name, const Tile& other);
/// Two inputs cannot both come from PSUM. Source: nki.isa.tensor_tensor.
void not_both_psum(std::string_view name, const Tile& tile, std::string_view other_name, const Tile& other);

}  // namespace isa::rule
