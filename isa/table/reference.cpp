#include "isa/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "isa/names.h"
#include "isa/table.h"
#include "isa/target.h"

namespace isa {
namespace {

constexpr EngineSet kEverybody = columns::kAny;

std::string engines_of(const Row& row) {
  if (row.engines.bits == 0) return "not on NeuronCore-v2";
  if (row.engines == kEverybody) return "any";
  std::string names;
  for (int e = 0; e < kEngineCount; ++e) {
    const auto engine = static_cast<Engine>(e);
    if (!row.engines.contains(engine)) continue;
    if (!names.empty()) names += ", ";
    names += name_of(engine);
  }
  return names;
}

/// The differences of Trn2's NeuronCore-v3.
std::string on_v3(const Row& v2, const Row& v3) {
  std::vector<std::string> news;
  if (v3.engines.bits == 0) return "not available either";
  if (!(v3.engines == v2.engines)) news.push_back("on " + engines_of(v3));
  if (v3.formula != v2.formula) news.emplace_back(v3.formula);
  if (v3.limits != v2.limits) news.emplace_back(v3.limits);
  if (v3.rule != v2.rule && news.empty()) news.emplace_back("other limits");
  if (news.empty()) return "the same";
  return fmt::format("{}", fmt::join(news, "; "));
}

constexpr std::string_view kIntroduction =
    "# Instructions of NeuronCore-v2 (Trn1) and NeuronCore-v3 (Trn2)\n\n"
    "Generated from the table in `isa/table.h`; `trnsim list isa` prints the same.\n\n"
    "The cost is the time for which the instruction occupies its engine, in cycles of that engine. Its result becomes "
    "visible later, after the engine's fixed latency (machine file). P: partitions of `a`; N (F on TensorE): elements "
    "per partition of `a`, or of `dst` if there is no `a`; K, M, N of matmul: the common partitions, the columns of "
    "`a` "
    "and of `b`. MIN_II: minimum initiation interval, about 64 cycles; START: start of GpSimdE, about 150 cycles; "
    "passes: 4 for fp32 on TensorE, otherwise 1.\n\n"
    "The column \"v3\" has the differences of NeuronCore-v3; all other columns describe NeuronCore-v2. The numbers of "
    "v3 are in its machine files.\n\n"
    "Operands: `dst` and `dst2` are written; `a`, `b` and `c` are read. The semantics of each instruction are "
    "documented at `Opcode` in `isa/instr.h`.\n\n";

}  // namespace

base::Table reference() {
  base::Table table{{{.key = "name", .title = "instruction"},
                     {.key = "engines", .title = "engines"},
                     {.key = "cost", .title = "cost (cycles)"},
                     {.key = "limits", .title = "limits"},
                     {.key = "v3", .title = "v3"},
                     {.key = "source", .title = "source"},
                     {.key = "note", .title = "note"}}};
  for (const Row& row : kTable) {
    const Row& v3 = instructions(3)[static_cast<std::size_t>(row.op)];
    table.add_row({row.name, engines_of(row), row.formula, row.limits, on_v3(row, v3), row.source, row.note});
  }
  return table;
}

std::string reference_markdown() { return std::string{kIntroduction} + reference().render(base::Format::kMarkdown); }

}  // namespace isa
