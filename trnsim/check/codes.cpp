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
// Compiler Error Codes"; F137: the SDK's troubleshooting of torch-neuronx.
constexpr std::array kOthers = {
    CodeText{"EARG001", "the logical core configuration is not one of the machine's", "`lnc` 1 on Trn1 and Inf2"},
    CodeText{"EBVF030", "the program has more instructions than the compiler allows",
             "share the model between more cores, or use a smaller batch"},
    CodeText{"EHCA005", "a custom call has a target that the compiler does not know", "use a documented target"},
    CodeText{"EMOD025", "a size of the program depends on data", "give each tensor and each loop a fixed size"},
    CodeText{"EOOM001", "weights and activations need more memory than a core has",
             "use a smaller batch, recomputation, or more tensor or pipeline parallelism"},
    CodeText{"EOOM002", "activations need more memory than a core has",
             "use a smaller batch, recomputation, or more tensor or pipeline parallelism"},
    CodeText{"EUOC002", "the operator is not supported", "compose it of others"},
    CodeText{"EVRF007", "the program has more instructions than the compiler allows",
             "share the model between more cores, or use a smaller batch"},
    CodeText{"EVRF009", "tensors need more memory than a core has",
             "use a smaller batch, recomputation, or more tensor or pipeline parallelism"},
    CodeText{"EVRF031", "a scatter's constant indices are outside of its tensor", "keep indices inside"},
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
  throw base::Error{base::Fault::kUsage, "trnsim explain", "'" + std::string{name} + "' is no documented code",
                    base::suggest_fix(code, names)};
}

}  // namespace trnsim
