#include "frontend/hlo/attributes.h"

#include <algorithm>
#include <array>

namespace trnsim::frontend::hlo {
namespace {

using enum FormKind;
using std::string_view;

constexpr std::array<string_view, 4> kFftTypes{"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr std::array<string_view, 3> kDistributions{"rng_invalid", "rng_uniform", "rng_normal"};
constexpr std::array<string_view, 3> kRandomAlgorithms{"rng_default", "rng_three_fry", "rng_philox"};
constexpr std::array<string_view, 3> kPrecisions{"default", "high", "highest"};
constexpr std::array<string_view, 4> kTransposes{"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr std::array<string_view, 3> kPaddingTypes{"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"};
constexpr std::array<string_view, 3> kSchedules{"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"};
constexpr std::array<string_view, 5> kApiVersions{"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
                                                  "API_VERSION_STATUS_RETURNING",
                                                  "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
constexpr std::array<string_view, 15> kAlgorithms{
    "dot_unset",         "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",   "dot_f16_f16_f32",       "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3",  "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3",  "dot_f32_f32_f32",
    "dot_f64_f64_f64",   "dot_bf16_bf16_f32_x9",  "dot_f32_f32_f32_x1"};

// Source of the numbers: hlo.proto, HloInstructionProto. By the number of the field; printed in this order.
constexpr std::array kForms = {
    Form{"parameter_number", kInt, 9, 0, "parameter"},
    Form{"kind", kWord, 11},
    Form{"index", kInt, 13, 0, "get-tuple-element"},
    Form{"dimensions", kInts, 14},
    Form{"window", kWindow, 15},
    Form{"dim_labels", kConvolution, 16},
    Form{"slice", kSlices, 17},
    Form{"exponent_bits", kInt, 18},
    Form{"mantissa_bits", kInt, 19},
    Form{"dynamic_slice_sizes", kInts, 20},
    Form{"padding", kPadding, 21},
    Form{"distribution", kEnum, 23, 0, {}, kDistributions},
    Form{"epsilon", kFloat, 24},
    Form{"feature_index", kInt, 25},
    Form{"channel_id", kInt, 26},
    Form{"custom_call_target", kText, 28},
    Form{"lhs_batch_dims", kInts, 30, 3},
    Form{"lhs_contracting_dims", kInts, 30, 1},
    Form{"rhs_batch_dims", kInts, 30, 4},
    Form{"rhs_contracting_dims", kInts, 30, 2},
    Form{"fft_type", kEnum, 31, 0, {}, kFftTypes},
    Form{"fft_length", kInts, 32},
    Form{"offset_dims", kInts, 33, 1},
    Form{"collapsed_slice_dims", kInts, 33, 2},
    Form{"start_index_map", kInts, 33, 3},
    Form{"operand_batching_dims", kInts, 33, 5},
    Form{"start_indices_batching_dims", kInts, 33, 6},
    Form{"index_vector_dim", kInt, 33, 4, "gather"},
    Form{"slice_sizes", kInts, 34},
    Form{"sharding", kSharding, 40},
    Form{"backend_config", kBackend, 43},
    Form{"is_host_transfer", kBool, 47},
    Form{"update_window_dims", kInts, 48, 1},
    Form{"inserted_window_dims", kInts, 48, 2},
    Form{"scatter_dims_to_operand_dims", kInts, 48, 3},
    Form{"input_batching_dims", kInts, 48, 5},
    Form{"scatter_indices_batching_dims", kInts, 48, 6},
    Form{"index_vector_dim", kInt, 48, 4, "scatter"},
    Form{"replica_groups", kGroups, 49},
    Form{"feature_group_count", kInt, 50, 0, {}, {}, 1},
    Form{"operand_precision", kEnums, 51, 1, {}, kPrecisions},
    Form{"algorithm", kEnum, 51, 2, "dot", kAlgorithms},
    Form{"source_target_pairs", kPairs, 52},
    Form{"constrain_layout", kBool, 56},
    Form{"operand_layout_constraints", kShapes, 57},
    Form{"batch_group_count", kInt, 58, 0, {}, {}, 1},
    Form{"left_side", kBool, 59, 1},
    Form{"lower", kBool, 59, 2, "triangular-solve"},
    Form{"unit_diagonal", kBool, 59, 3},
    Form{"transpose_a", kEnum, 59, 4, {}, kTransposes},
    Form{"is_stable", kBool, 60},
    Form{"lower", kBool, 62, 1, "cholesky"},
    Form{"direction", kWord, 63},
    Form{"custom_call_has_side_effect", kBool, 65},
    Form{"delta", kInt, 66},
    Form{"indices_are_sorted", kBool, 67},
    Form{"frontend_attributes", kMap, 68},
    Form{"unique_indices", kBool, 69},
    Form{"algorithm", kEnum, 70, 0, "rng-bit-generator", kRandomAlgorithms},
    Form{"use_global_device_ids", kBool, 71},
    Form{"type", kWord, 72},
    Form{"output_to_operand_aliasing", kAliasing, 74},
    Form{"padding_type", kEnum, 75, 0, {}, kPaddingTypes},
    Form{"schedule", kEnum, 76, 0, {}, kSchedules},
    Form{"api_version", kEnum, 77, 0, {}, kApiVersions},
    Form{"async_execution_thread", kText, 79},
    Form{"k", kInt, 81},
    Form{"largest", kBool, 85},
    Form{"is_composite", kBool, 89},
};

/// "iota_dimension" and "dimensions" are one field.
constexpr string_view kIotaDimension = "iota_dimension";

struct Always {
  string_view name, opcodes;
};
constexpr std::array kAlways = {
    Always{"dimensions", " broadcast reduce transpose concatenate reverse sort "},
    Always{"index", " get-tuple-element "},
    Always{"offset_dims", " gather "},
    Always{"collapsed_slice_dims", " gather "},
    Always{"start_index_map", " gather "},
    Always{"index_vector_dim", " gather scatter "},
    Always{"slice_sizes", " gather "},
    Always{"update_window_dims", " scatter "},
    Always{"inserted_window_dims", " scatter "},
    Always{"scatter_dims_to_operand_dims", " scatter "},
    Always{"slice", " slice "},
    Always{"padding", " pad "},
    Always{"dynamic_slice_sizes", " dynamic-slice "},
    Always{"exponent_bits", " reduce-precision "},
    Always{"mantissa_bits", " reduce-precision "},
    Always{"replica_groups", " all-reduce all-gather reduce-scatter all-to-all "},
};

}  // namespace

std::span<const Form> all_forms() { return kForms; }

const Form* form_named(string_view name, string_view opcode) {
  if (name == kIotaDimension) name = "dimensions";
  for (const Form& form : kForms)
    if (form.name == name && (form.only.empty() || form.only == opcode)) return &form;
  return nullptr;
}

bool always_written(const Form& form, string_view opcode) {
  for (const Always& row : kAlways)
    if (row.name == form.name && row.opcodes.find(" " + std::string{opcode} + " ") != string_view::npos) return true;
  return false;
}

bool is_passed_over(string_view name) {
  constexpr std::array<string_view, 12> kNames{
      "origin",         "statistics",     "execution_thread",      "result_accuracy",
      "api_attributes", "sparsity",       "parameter_replication", "cross_program_prefetch_index",
      "infeed_config",  "outfeed_config", "outfeed_shape",         "domain"};
  return std::ranges::find(kNames, name) != kNames.end();
}

bool names_computations(string_view name) {
  constexpr std::array<string_view, 10> kNames{"to_apply",
                                               "calls",
                                               "body",
                                               "condition",
                                               "branch_computations",
                                               "true_computation",
                                               "false_computation",
                                               "called_computations",
                                               "select",
                                               "scatter"};
  return std::ranges::find(kNames, name) != kNames.end();
}

bool is_standard(const Form& form, const Held& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value))
    return *number == form.standard || (form.standard == 1 && *number == 0);
  if (const auto* real = std::get_if<double>(&value)) return *real == 0;
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
  if (const auto* ints = std::get_if<Ints>(&value)) {
    if (form.kind == kEnums) return std::ranges::all_of(*ints, [](std::int64_t x) { return x == 0; });
    return ints->empty();
  }
  if (const auto* rows = std::get_if<Rows>(&value)) return rows->empty();
  if (const auto* map = std::get_if<TextMap>(&value)) return map->empty();
  if (const auto* list = std::get_if<std::vector<Aliasing>>(&value)) return list->empty();
  if (const auto* shapes = std::get_if<std::vector<Shape>>(&value)) return shapes->empty();
  return false;
}

void add(Instruction& instruction, const Form& form, Held value) {
  if (is_standard(form, value)) return;
  auto& attributes = instruction.attributes;
  const auto place = std::ranges::find_if(attributes, [&](const Attribute& other) { return other.form >= &form; });
  if (place != attributes.end() && place->form == &form)
    place->value = std::move(value);
  else
    attributes.insert(place, {&form, std::move(value)});
}

const Held* find(const Instruction& instruction, string_view name) {
  for (const Attribute& attribute : instruction.attributes)
    if (attribute.form->name == name) return &attribute.value;
  return nullptr;
}

std::int64_t int_of(const Instruction& instruction, string_view name) {
  const Held* held = find(instruction, name);
  if (held && std::holds_alternative<std::int64_t>(*held)) return std::get<std::int64_t>(*held);
  const Form* form = form_named(name, instruction.opcode);
  return form ? form->standard : 0;
}

const Ints& ints_of(const Instruction& instruction, string_view name) {
  static const Ints kNone;
  const Held* held = find(instruction, name);
  return held && std::holds_alternative<Ints>(*held) ? std::get<Ints>(*held) : kNone;
}

const Rows& rows_of(const Instruction& instruction, string_view name) {
  static const Rows kNone;
  const Held* held = find(instruction, name);
  return held && std::holds_alternative<Rows>(*held) ? std::get<Rows>(*held) : kNone;
}

string_view text_of(const Instruction& instruction, string_view name) {
  const Held* held = find(instruction, name);
  return held && std::holds_alternative<std::string>(*held) ? string_view{std::get<std::string>(*held)} : "";
}

}  // namespace trnsim::frontend::hlo
