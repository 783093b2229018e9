#include "frontend/hlo/graph_attributes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>

#include "frontend/hlo/attributes.h"

namespace trnsim::frontend::hlo {
namespace {

using std::string_view;

Ints column(const Rows& rows, std::size_t at) {
  Ints out;
  for (const Ints& row : rows) out.push_back(row.at(at));
  return out;
}

IntTable table_of(const Rows& rows) {
  IntTable out;
  for (const Ints& row : rows) out.columns = std::max(out.columns, static_cast<std::int64_t>(row.size()));
  for (const Ints& row : rows) {
    out.values.insert(out.values.end(), row.begin(), row.end());
    out.values.insert(out.values.end(), static_cast<std::size_t>(out.columns) - row.size(), -1);
  }
  return out;
}

IntTable padding_of(const Rows& window) {
  IntTable out{.columns = 2, .values = {}};
  for (const Ints& row : window) out.values.insert(out.values.end(), {row[2], row[3]});
  return out;
}

/// The array 0, 1, 2, ... of shape `reshape`, transposed, as groups of `ranks`.
IntTable expanded(const IotaGroups& iota) {
  Ints order = iota.transpose;
  if (order.empty()) {
    order.resize(iota.reshape.size());
    std::iota(order.begin(), order.end(), 0);
  }
  IntTable out{.columns = iota.ranks, .values = {}};
  const std::int64_t count = iota.groups * iota.ranks;
  Ints index(order.size());
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t value = 0;
    Ints source(index.size());
    for (std::size_t d = 0; d < order.size(); ++d) source[static_cast<std::size_t>(order[d])] = index[d];
    for (std::size_t d = 0; d < source.size(); ++d) value = value * iota.reshape[d] + source[d];
    out.values.push_back(value);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < iota.reshape[static_cast<std::size_t>(order[d])]) break;
      index[d] = 0;
    }
  }
  return out;
}

struct From {
  const Instruction& one;
  const Shape* operand;
  Attributes& out;

  void dims(string_view to) const { out.set(to, ints_of(one, "dimensions")); }
  /// The only entry of `dimensions`.
  void dim(string_view to) const {
    const Ints& all = ints_of(one, "dimensions");
    out.set(to, all.empty() ? std::int64_t{0} : all[0]);
  }
  void ints(std::initializer_list<string_view> names) const {
    for (const string_view name : names) out.set(name, ints_of(one, name));
  }
  void integers(std::initializer_list<string_view> names) const {
    for (const string_view name : names) out.set(name, int_of(one, name));
  }
  void flags(std::initializer_list<string_view> names) const {
    for (const string_view name : names) out.set(name, int_of(one, name) != 0);
  }
  void collective() const {
    out.set("replica_groups", groups_of(one));
    out.set("channel_id", int_of(one, "channel_id"));
    out.set("use_global_device_ids", int_of(one, "use_global_device_ids") != 0);
  }
};

void broadcast(const From& from) { from.dims("broadcast_dimensions"); }
void transpose(const From& from) { from.dims("permutation"); }
void by_dimensions(const From& from) { from.dims("dimensions"); }
void by_dimension(const From& from) { from.dim("dimension"); }
void iota(const From& from) { from.dim("iota_dimension"); }
void sort(const From& from) {
  from.dim("dimension");
  from.flags({"is_stable"});
}

void slice(const From& from) {
  const Rows& rows = rows_of(from.one, "slice");
  from.out.set("start_indices", column(rows, 0));
  from.out.set("limit_indices", column(rows, 1));
  from.out.set("strides", column(rows, 2));
}

void pad(const From& from) {
  const Rows& rows = rows_of(from.one, "padding");
  from.out.set("edge_padding_low", column(rows, 0));
  from.out.set("edge_padding_high", column(rows, 1));
  from.out.set("interior_padding", column(rows, 2));
}

void dynamic_slice(const From& from) { from.out.set("slice_sizes", ints_of(from.one, "dynamic_slice_sizes")); }

void dot(const From& from) {
  from.out.set("lhs_batching_dimensions", ints_of(from.one, "lhs_batch_dims"));
  from.out.set("rhs_batching_dimensions", ints_of(from.one, "rhs_batch_dims"));
  from.out.set("lhs_contracting_dimensions", ints_of(from.one, "lhs_contracting_dims"));
  from.out.set("rhs_contracting_dimensions", ints_of(from.one, "rhs_contracting_dims"));
}

void gather(const From& from) {
  from.ints({"offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
             "start_index_map", "slice_sizes"});
  from.integers({"index_vector_dim"});
  from.flags({"indices_are_sorted"});
}

void scatter(const From& from) {
  from.ints({"update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
             "scatter_dims_to_operand_dims"});
  from.integers({"index_vector_dim"});
  from.flags({"indices_are_sorted", "unique_indices"});
}

void compare(const From& from) {
  from.out.set("comparison_direction", std::string{text_of(from.one, "direction")});
  if (const string_view type = text_of(from.one, "type"); !type.empty())
    from.out.set("compare_type", std::string{type});
}

void window(const From& from) {
  const Rows& rows = rows_of(from.one, "window");
  from.out.set("window_dimensions", column(rows, 0));
  from.out.set("window_strides", column(rows, 1));
  from.out.set("padding", padding_of(rows));
  from.out.set("window_dilations", column(rows, 4));
  from.out.set("base_dilations", column(rows, 5));
}

void convolution(const From& from) {
  const Rows& rows = rows_of(from.one, "window");
  from.out.set("window_strides", column(rows, 1));
  from.out.set("padding", padding_of(rows));
  from.out.set("rhs_dilation", column(rows, 4));
  from.out.set("lhs_dilation", column(rows, 5));
  from.out.set("window_reversal", column(rows, 6));
  from.integers({"feature_group_count", "batch_group_count"});
  const Rows& labels = rows_of(from.one, "dim_labels");
  constexpr std::array<std::array<string_view, 3>, 3> kNames{
      {{"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
       {"kernel_output_feature_dimension", "kernel_input_feature_dimension", "kernel_spatial_dimensions"},
       {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"}}};
  for (std::size_t i = 0; i < labels.size() && i < kNames.size(); ++i) {
    from.out.set(kNames[i][0], labels[i].at(0));
    from.out.set(kNames[i][1], labels[i].at(1));
    from.out.set(kNames[i][2], Ints{labels[i].begin() + 2, labels[i].end()});
  }
}

void reduce_precision(const From& from) { from.integers({"exponent_bits", "mantissa_bits"}); }
void all_reduce(const From& from) { from.collective(); }
void all_gather(const From& from) {
  from.collective();
  from.dim("all_gather_dim");
}
void reduce_scatter(const From& from) {
  from.collective();
  from.dim("scatter_dimension");
}
void all_to_all(const From& from) {
  from.collective();
  from.dim("split_dimension");
  from.dim("concat_dimension");
  from.out.set("split_count", groups_of(from.one).columns);
}
void permute(const From& from) {
  from.collective();
  from.out.set("source_target_pairs", table_of(rows_of(from.one, "source_target_pairs")));
}

void random_bits(const From& from) {
  constexpr std::array<string_view, 3> kNames{"DEFAULT", "THREE_FRY", "PHILOX"};
  from.out.set("rng_algorithm", std::string{kNames.at(static_cast<std::size_t>(int_of(from.one, "algorithm")))});
}

void custom_call(const From& from) {
  from.out.set("call_target_name", std::string{text_of(from.one, "custom_call_target")});
  from.out.set("backend_config", std::string{text_of(from.one, "backend_config")});
  from.flags({"custom_call_has_side_effect"});
}

void fft(const From& from) {
  constexpr std::array<string_view, 4> kNames{"FFT", "IFFT", "RFFT", "IRFFT"};
  from.out.set("fft_type", std::string{kNames.at(static_cast<std::size_t>(int_of(from.one, "fft_type")))});
  from.ints({"fft_length"});
}

void cholesky(const From& from) { from.flags({"lower"}); }
void triangular_solve(const From& from) {
  from.flags({"left_side", "lower", "unit_diagonal"});
  constexpr std::array<string_view, 4> kNames{"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  from.out.set("transpose_a", std::string{kNames.at(static_cast<std::size_t>(int_of(from.one, "transpose_a")))});
}

void random(const From& from) {
  constexpr std::array<string_view, 3> kNames{"", "UNIFORM", "NORMAL"};
  from.out.set("rng_distribution", std::string{kNames.at(static_cast<std::size_t>(int_of(from.one, "distribution")))});
}

void top_k(const From& from) {
  from.integers({"k"});
  from.flags({"largest"});
}

void batch_norm(const From& from) {
  const Held* epsilon = find(from.one, "epsilon");
  from.out.set("epsilon", epsilon ? std::get<double>(*epsilon) : 0.0);
  from.integers({"feature_index"});
}

struct OpcodeRow {
  string_view opcode, op;  // op empty: the table's row of that opcode
  void (*set)(const From&);
};
constexpr std::array kOpcodes = {OpcodeRow{"broadcast", "broadcast_in_dim", broadcast},
                                 OpcodeRow{"transpose", "", transpose},
                                 OpcodeRow{"reduce", "", by_dimensions},
                                 OpcodeRow{"reverse", "", by_dimensions},
                                 OpcodeRow{"map", "", by_dimensions},
                                 OpcodeRow{"concatenate", "", by_dimension},
                                 OpcodeRow{"sort", "", sort},
                                 OpcodeRow{"iota", "", iota},
                                 OpcodeRow{"slice", "", slice},
                                 OpcodeRow{"pad", "", pad},
                                 OpcodeRow{"bitcast", "reshape", nullptr},
                                 OpcodeRow{"dynamic-slice", "", dynamic_slice},
                                 OpcodeRow{"dot", "dot_general", dot},
                                 OpcodeRow{"gather", "", gather},
                                 OpcodeRow{"scatter", "", scatter},
                                 OpcodeRow{"compare", "", compare},
                                 OpcodeRow{"reduce-window", "", window},
                                 OpcodeRow{"select-and-scatter", "", window},
                                 OpcodeRow{"convolution", "", convolution},
                                 OpcodeRow{"reduce-precision", "", reduce_precision},
                                 OpcodeRow{"all-reduce", "", all_reduce},
                                 OpcodeRow{"collective-broadcast", "", all_reduce},
                                 OpcodeRow{"all-gather", "", all_gather},
                                 OpcodeRow{"reduce-scatter", "", reduce_scatter},
                                 OpcodeRow{"all-to-all", "", all_to_all},
                                 OpcodeRow{"collective-permute", "", permute},
                                 OpcodeRow{"rng", "", random},
                                 OpcodeRow{"get-dimension-size", "", by_dimension},
                                 OpcodeRow{"rng-bit-generator", "", random_bits},
                                 OpcodeRow{"custom-call", "", custom_call},
                                 OpcodeRow{"fft", "", fft},
                                 OpcodeRow{"cholesky", "", cholesky},
                                 OpcodeRow{"triangular-solve", "", triangular_solve},
                                 OpcodeRow{"topk", "chlo.top_k", top_k},
                                 OpcodeRow{"batch-norm-training", "", batch_norm},
                                 OpcodeRow{"batch-norm-inference", "", batch_norm},
                                 OpcodeRow{"batch-norm-grad", "", batch_norm}};

/// The size of the dimension of `of` that `one` names.
std::optional<std::int64_t> named_size(const Instruction& of, const Instruction& one) {
  const Ints &sizes = of.shape.dims, &dims = ints_of(one, "dimensions");
  if (dims.size() != 1 || dims[0] < 0 || static_cast<std::size_t>(dims[0]) >= sizes.size()) return {};
  return sizes[static_cast<std::size_t>(dims[0])];
}

/// A size that the program states, as a constant or as that of a dimension; none for one that only the run knows.
std::optional<std::int64_t> stated_size(const Computation& computation, const Instruction& one) {
  std::int64_t number = 0;
  if (one.opcode == "constant" && one.literal && !one.literal->elided && one.literal->bytes.size() <= sizeof number) {
    std::memcpy(&number, one.literal->bytes.data(), one.literal->bytes.size());  // sizes have no sign
    return number;
  }
  if (one.opcode != "get-dimension-size" || one.operands.size() != 1) return {};
  return named_size(computation.instructions[one.operands[0]], one);
}

}  // namespace

bool keeps_size(const Computation& computation, const Instruction& one) {
  if (one.operands.size() != 2) return false;
  const auto own = named_size(computation.instructions[one.operands[0]], one);
  return own && own == stated_size(computation, computation.instructions[one.operands[1]]);
}

string_view begun_opcode(string_view opcode) {
  constexpr string_view kStart = "-start";
  return opcode.ends_with(kStart) ? opcode.substr(0, opcode.size() - kStart.size()) : opcode;
}

IntTable groups_of(const Instruction& instruction) {
  const Held* held = find(instruction, "replica_groups");
  if (!held) return {};
  if (const auto* iota = std::get_if<IotaGroups>(held)) return expanded(*iota);
  return table_of(std::get<Rows>(*held));
}

void set_attributes(const Instruction& instruction, const Shape* operand, Attributes& out) {
  const auto row = std::ranges::find(kOpcodes, begun_opcode(instruction.opcode), &OpcodeRow::opcode);
  if (row != kOpcodes.end() && row->set) row->set({instruction, operand, out});
}

string_view operator_of(string_view opcode) {
  const auto row = std::ranges::find(kOpcodes, opcode, &OpcodeRow::opcode);
  return row == kOpcodes.end() ? string_view{} : row->op;
}

}  // namespace trnsim::frontend::hlo
