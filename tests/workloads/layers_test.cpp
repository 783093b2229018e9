// The layer library in training: however ranks share a layer, its gradients are those of one core.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "isa/device.h"
#include "runtime/compiler/compile.h"
#include "runtime/step/session.h"
#include "tests/target.h"
#include "tests/workloads/traits.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/step/pipeline.h"
#include "workloads/step/step_graph.h"
#include "workloads/training/host_io.h"
#include "workloads/training/sharded_state.h"

namespace workloads {
namespace {

using Gradients = std::map<std::string, std::vector<float>>;

Gradients gradients(const ModelPtr& model, Plan plan) {
  plan.micro_batch = 4, plan.numerics = runtime::numerics("fp32");
  const Step step{.plan = plan, .kind = {.length = 16}};
  StepGraph graph = model->step(step);
  const runtime::Compiled compiled =
      runtime::compile(std::move(graph.graph), trn1_target(), compile_options(step, "traits", {}));
  const auto device = isa::make_numeric_device();
  device->load(compiled.program);
  runtime::Session session{*device, compiled.program};
  const HostIo io{model, step};
  Batch batch;
  for (std::int32_t i = 0; i < 64; ++i) {
    batch.input_ids.push_back((7 * i + i * i) % 64), batch.labels.push_back((11 * i + 5) % 64);
    batch.weights.push_back(1.0F / 64);
  }
  const ShardedState state{model, step, {graph.zero}};
  state.write_weights(session, initial_weights(model, 7));
  io.write_tables(session);
  io.write_batch(session, 0, 0, batch);
  io.write_hyper(session, hyper_values(step.optimizer, 1e-3, 1));
  device->run({});
  Gradients out;
  for (const WeightSpec& spec : state.tensors()) out[spec.name] = state.read(session, spec, true);
  return out;
}

class LayersTrain : public testing::TestWithParam<workloads_test::Traits> {};

// 1e-4: sums of some hundred fp32 products in another order. Sequence parallelism sends each rank's tokens another way,
// and a layer that is computed again must give the same.
TEST_P(LayersTrain, RanksFindTheGradientsOfOneCore) {
  const ModelPtr model = workloads_test::of_traits(GetParam());
  const Gradients want = gradients(model, {});
  for (const Plan& plan : {Plan{.recompute = Recompute::kFull}, Plan{.tensor = 2},
                           Plan{.tensor = 4, .sequence = true, .recompute = Recompute::kSelective}}) {
    const Gradients got = gradients(model, plan);
    for (const auto& [name, values] : want) {
      double norm = 0, off = 0;
      for (std::size_t i = 0; i < values.size(); ++i)
        norm += std::pow(values[i], 2.0), off += std::pow(double{values[i]} - double{got.at(name)[i]}, 2.0);
      EXPECT_LE(std::sqrt(off), 1e-4 * std::sqrt(norm) + 1e-7) << name << " on " << plan.tensor;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, LayersTrain, testing::ValuesIn(workloads_test::kTraits));

}  // namespace
}  // namespace workloads
