#include "trnsim/check/codes.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "base/pattern.h"
#include "base/suggest.h"
#include "frontend/ops/refusals.h"

namespace trnsim {
namespace {

// Codes without a rule for one operation (frontend/ops/refusals.cpp has those). Source: AWS Neuron SDK, "Neuron
// Compiler Error Codes"; EVRF029: the compiler's own message; F137: the SDK's troubleshooting of torch-neuronx.
constexpr std::string_view kLessMemory = "use a smaller batch, recomputation, or more tensor or pipeline parallelism",
                           kFewer = "share the model between more cores, or use a smaller batch";
constexpr std::array kOthers = {
    CodeText{"EARG001", "the logical core configuration is not one of the machine's", "`lnc` 1 on Trn1 and Inf2"},
    CodeText{"EBIR023", "the intermediate size of a fused MLP kernel is above 4096",
             "tile it, or share it between more cores"},
    CodeText{"EBVF030", "the program has more instructions than the compiler allows", kFewer},
    CodeText{"EHCA005", "a custom call has a target that the compiler does not know", "use a documented target"},
    CodeText{"EMOD025", "a size of a tensor is not known when the program is compiled",
             "give each tensor a fixed size"},
    CodeText{"EOOM001", "weights and activations need more memory than a core has", kLessMemory},
    CodeText{"EOOM002", "activations need more memory than a core has", kLessMemory},
    CodeText{"ESPP047", "a type of 8-bit reals that the machine does not have",
             "convert to a supported type, such as f16"},
    CodeText{"EUOC002", "the operator is not supported", "build it from other operators"},
    CodeText{"EVRF007", "the program has more instructions than the compiler allows", kFewer},
    CodeText{"EVRF009", "tensors need more memory than a core has", kLessMemory},
    CodeText{"EVRF029", "a sort, on Trn2 and later: torch.sort, argsort, or a torch.topk that becomes one",
             "take the largest by argmax in turn, or write an NKI kernel"},
    CodeText{"EVRF031", "a scatter's constant indices are outside its tensor", "keep the indices inside"},
    CodeText{"EVRF036", "the settings of a QuantizeMX call are not a JSON object", "give it a JSON object"},
    CodeText{"EVRF037", "a QuantizeMX call does not have one operand", "give it only the tensor"},
    CodeText{"EVRF038",
             "QuantizeMX along a dimension that the tensor does not have, or that is neither of the last two",
             "take the last dimension"},
    CodeText{"EVRF039", "QuantizeMX in blocks that do not have 32 elements", "use blocks of 32"},
    CodeText{"EVRF040", "QuantizeMX scales by a method that the compiler does not know", "use EMAX"},
    CodeText{"EVRF041", "QuantizeMX of a type other than bf16 and f16", "cast its input to bf16 or f16"},
    CodeText{"EVRF042", "a QuantizeMX call has a type or a shape that it cannot have",
             "use a type of 8-bit reals, and results packed in ui32"},
    CodeText{"EVRF043", "a ScaledMatmul call does not have four operands", "give it both matrices and both scales"},
    CodeText{"EVRF044", "the left matrix of a ScaledMatmul has a type that it does not take",
             "give it what QuantizeMX returns"},
    CodeText{"EVRF045", "a ScaledMatmul returns neither f32 nor bf16", "let it return f32 or bf16"},
    CodeText{"EVRF046", "the left matrix of a ScaledMatmul has fewer than two dimensions", "give it at least two"},
    CodeText{"EVRF047", "the right matrix of a ScaledMatmul has fewer than two dimensions", "give it at least two"},
    CodeText{"EVRF048", "the batches of a ScaledMatmul's matrices differ in size", "give both the same size"},
    CodeText{"EVRF049", "the settings of a ScaledMatmul call cannot be read",
             "give it JSON with lists of whole numbers"},
    CodeText{"EVRF050", "a ScaledMatmul sums over dimensions of different size", "give both the same size"},
    CodeText{"EVRF052", "f8E4M3 is not supported on Trn3 and later", "use f8E4M3FN"},
    CodeText{"EVRF053", "a ScaledMatmul sums over a dimension of its batch", "name each dimension once"},
    CodeText{"EVRF054", "a ScaledMatmul's batch names a dimension that does not exist",
             "number dimensions from 0 to the rank minus 1"},
    CodeText{"EVRF055", "a ScaledMatmul sums over a dimension that does not exist",
             "number dimensions from 0 to the rank minus 1"},
    CodeText{"EVRF056", "a gather's indices, made by an iota, are outside its tensor",
             "make the table of positions as long as the sequence"},
    CodeText{"EVRF057", "a QuantizeMX call does not return two results", "return the numbers and their scales"},
    CodeText{"EVRF058", "QuantizeMX along a dimension that is not a multiple of 4", "pad it to a multiple of 4"},
    CodeText{"EVRF059", "the file of a custom NKI kernel is missing on the host",
             "trace the model again where the file can be written"},
    CodeText{"EVRF060", "a scatter with arithmetic has integers, which it would compute in fp32 (newer releases)",
             "cast the operands to a floating-point type"},
    CodeText{"EVRF061", "an all-reduce has integers of 32 or 64 bits, which it would add in fp32 (newer releases)",
             "cast the operands to a floating-point type"},
    CodeText{"EVRF062", "a power of 64-bit integers, which would be computed in 32 bits (newer releases)",
             "cast to 32 bits"},
    CodeText{"EVRF063", "a reduce-scatter has integers of 32 or 64 bits, which it would add in fp32 (newer releases)",
             "cast the operands to a floating-point type"},
    CodeText{"EVRF064", "the program breaks a rule of shapes of its language",
             "correct the operation that the message names"},
    CodeText{"EVRF065", "an NKI kernel was traced by a release of NKI that the compiler does not take",
             "install the compiler's release of NKI, and trace again"},
    CodeText{"EXSP001", "tensors need more memory than a core has", kLessMemory},
    CodeText{"EXTP004", "the program has more instructions than the compiler allows", kFewer},
    CodeText{"F137", "the host's memory is full while the compiler, or a process that loads weights, runs",
             "compile on a host with more memory, run fewer compilations at once, or load shards"}};

}  // namespace

std::vector<CodeText> compiler_codes() {
  std::vector<CodeText> out{kOthers.begin(), kOthers.end()};
  for (const frontend::RefusalRule& rule : frontend::refusal_rules()) out.push_back({rule.code, rule.what, rule.fix});
  std::ranges::sort(out, {}, &CodeText::code);
  return out;
}

std::string code_in(std::string_view text) {
  static const base::Pattern kCode{R"(\bE[A-Z]{3}\d{3}\b)"};
  const auto found = kCode.search(text);
  return found ? std::string{*found} : std::string{};
}

CodeText compiler_code(std::string_view name) {
  std::string code{name};
  std::ranges::transform(code, code.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (code.starts_with("NCC_")) code.erase(0, 4);
  const std::vector<CodeText> all = compiler_codes();
  const auto found = std::ranges::find(all, code, &CodeText::code);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const CodeText& one : all) names.emplace_back(one.code);
  throw base::Error{base::Fault::kUsage, "trnsim explain", "'" + std::string{name} + "' is not a documented code",
                    base::suggest_fix(code, names)};
}

}  // namespace trnsim
