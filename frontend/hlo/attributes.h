// The attributes of HLO instructions, each a row: its name in text, its place in the proto, its form.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {

enum class FormKind : std::uint8_t {
  kInt,
  kBool,
  kFloat,        // 32 bits in the proto
  kWord,         // a word in text, a string in the proto
  kText,         // quoted in text
  kBackend,      // quoted or a value in braces in text, bytes in the proto
  kEnum,         // one of `words`, its place is the number
  kEnums,        // several
  kInts,         // {0,1}
  kSlices,       // {[0:1], [2:8:2]}: start, limit, stride
  kPadding,      // 0_0x1_1_2: low, high, interior
  kWindow,       // {size=3x3 pad=1_1x1_1}: size, stride, low, high, window dilation, base dilation, reversal
  kConvolution,  // bf01_oi01->bf01: four rows, of input, kernel and output, see kConvolutionFields
  kGroups,       // {{0,1},{2,3}} or [2,2]<=[4]
  kPairs,        // {{0,1},{1,2}}
  kSharding,
  kShapes,
  kAliasing,  // {{0}: (1, {})}
  kMap,       // {name="value"}
};

struct Form {
  std::string_view name;
  FormKind kind;
  std::uint32_t field, sub = 0;               // of HloInstructionProto, and of the message there; 0: it is no message
  std::string_view only{};                    // the opcode that alone has it; empty: any
  std::span<const std::string_view> words{};  // of enumerations
  std::int64_t standard = 0;                  // the number that it has when it is left out
};

std::span<const Form> all_forms();
/// The row of that name for that opcode, or nullptr.
const Form* form_named(std::string_view name, std::string_view opcode);
/// Whether text writes the attribute of such an instruction even when it is empty or 0.
bool always_written(const Form& form, std::string_view opcode);
/// Attributes of names that text may have and that neither change what is computed nor how long it takes.
bool is_passed_over(std::string_view name);
/// Names of attributes in text that name computations, in the order that the proto lists them.
bool names_computations(std::string_view name);

/// Whether an instruction without the attribute has that value too.
bool is_standard(const Form& form, const Held& value);

/// Adds an attribute in the table's order, unless it is the standard.
void add(Instruction& instruction, const Form& form, Held value);

// ---- attributes by their name in text; those that are absent are empty, or the table's standard

const Held* find(const Instruction& instruction, std::string_view name);
std::int64_t int_of(const Instruction& instruction, std::string_view name);
const Ints& ints_of(const Instruction& instruction, std::string_view name);
const Rows& rows_of(const Instruction& instruction, std::string_view name);
std::string_view text_of(const Instruction& instruction, std::string_view name);

// ---- words

extern const std::span<const std::string_view> kPrecisionAlgorithms;

}  // namespace trnsim::frontend::hlo
