// Attention in graphs, computed on a simulated core by the families' operation and without it.
#include "tests/frontend/attention.h"

#include "frontend/hlo/graph.h"
#include "frontend/hlo/text.h"
#include "hw/params.h"
#include "runtime/ops/ops.h"
#include "trnsim/graphs/graph_program.h"
#include "trnsim/graphs/graph_run.h"

namespace trnsim {
namespace {

frontend::Module attention_module(const std::string& lines) {
  return frontend::hlo::graph_of(
      frontend::hlo::read_text(
          "HloModule m\n" + std::string{frontend::kAttentionRegions} + "ENTRY main {\n" + lines + "\n}\n", "m"),
      "m");
}

void expect_attention_numbers(const std::string& lines) {
  const frontend::Module module = attention_module(lines);
  for (const bool rewritten : {true, false})
    for (const OutputError& one :
         compare_with_reference(module, frontend::lower(module, {.rewrites = {.attention = rewritten}}),
                                hw::load_machine("trn1.2xlarge"), drawn_inputs(module, 3)))
      EXPECT_TRUE(one.within) << (rewritten ? "rewritten: " : "as it is: ") << lines << ": " << one.name
                              << " is off by " << one.error;
}

TEST(AttentionGraph, HasTheReferencesNumbersInEverySpelling) {
  for (const std::string& lines : frontend::kAttentionSpellings) expect_attention_numbers(lines);
  for (const std::string& lines : frontend::kNoAttention) expect_attention_numbers(lines);
}

TEST(AttentionGraph, HasTheReferencesGradients) {
  expect_attention_numbers(frontend::kAttentionWithGradient);
  expect_attention_numbers(frontend::kSharedWithGradient);
}

TEST(AttentionGraph, CountsTheProgramsProducts) {
  for (const std::string& lines : {frontend::kAttentionSpellings[2], frontend::kAttentionWithGradient}) {
    const frontend::Module module = attention_module(lines);
    EXPECT_EQ(frontend::lower(module).flops, frontend::lower(module, {.rewrites = {.attention = false}}).flops);
  }
}

/// Heads behind tokens, as a family has them: [4*256, 8*64].
double seconds_of_family(const hw::MachineParams& machine) {
  frontend::LoweredGraph out{.graph = runtime::Graph{runtime::numerics("fp32")}};
  runtime::Graph& g = out.graph;
  std::vector<runtime::ValueId> in;
  for (const char* name : {"q", "k", "v"})
    in.push_back(g.tensor(name, 1024, 512, runtime::Dtype::kFp32, runtime::Kind::kInput));
  g.enter({.name = "graph", .phase = isa::Phase::kForward});
  const runtime::AttentionAttrs attrs{.scale = 0.125, .batch = 4, .seq = 256, .heads = 8, .kv_heads = 8};
  g.output(g.add(runtime::kAttention, "attention", in, attrs)[0], "o");
  return GraphProgram{std::move(out), machine}.seconds();
}

TEST(AttentionGraph, TakesTheFamiliesTime) {
  const frontend::Module module = attention_module(
      "q = f32[4,256,8,64] parameter(0)\nk = f32[4,256,8,64] parameter(1)\nv = f32[4,256,8,64] parameter(2)\n"
      "r = f32[4,8,256,256] dot(q, k), lhs_batch_dims={0,2}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
      "rhs_contracting_dims={3}\nn0 = f32[] constant(0.125)\nn = f32[4,8,256,256] broadcast(n0), dimensions={}\n"
      "s = f32[4,8,256,256] multiply(r, n)\nzero = f32[] constant(0)\nlow = f32[] constant(-inf)\n"
      "m = f32[4,8,256] reduce(s, low), dimensions={3}, to_apply=most\n"
      "mm = f32[4,8,256,256] broadcast(m), dimensions={0,1,2}\nd = f32[4,8,256,256] subtract(s, mm)\n"
      "e = f32[4,8,256,256] exponential(d)\nz = f32[4,8,256] reduce(e, zero), dimensions={3}, to_apply=sum\n"
      "zz = f32[4,8,256,256] broadcast(z), dimensions={0,1,2}\np = f32[4,8,256,256] divide(e, zz)\n"
      "c = f32[4,8,256,64] dot(p, v), lhs_batch_dims={0,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
      "rhs_contracting_dims={1}\nt = f32[4,256,8,64] transpose(c), dimensions={0,2,1,3}\n"
      "ROOT o = f32[1024,512] reshape(t)");
  const hw::MachineParams machine = hw::load_machine("trn1.2xlarge");
  const double family = seconds_of_family(machine);
  EXPECT_NEAR(GraphProgram(frontend::lower(module), machine).seconds(), family, 0.03 * family);
  EXPECT_GT(GraphProgram(frontend::lower(module, {.rewrites = {.attention = false}}), machine).seconds(), 1.2 * family);
}

}  // namespace
}  // namespace trnsim
