// Rows that the host decides: launches, copies, training loops of models too small to keep a device busy.
#include <fmt/format.h>

#include "validation/predict/predict_row.h"

namespace validation {
namespace {

/// "784-120-84-10 batch 32": fully connected layers, trained by SGD as in the AWS tutorial.
Prediction predict_mlp(const Row& row, const Shape& shape, const PredictContext& context) {
  const auto& micro = std::get<MicroRow>(row.job);
  const auto batch = shape.named.find("batch");
  if (shape.sizes.size() < 2 || batch == shape.named.end()) {
    return Prediction::skip("shape is not of the form 784-120-84-10 batch 32");
  }
  const analysis::Stack stack = context.stack("torch-xla");
  const double tensors = 2 * (static_cast<double>(shape.sizes.size()) - 1);  // weight and bias of each layer
  analysis::JobShape job;
  job.steps = 1;
  // Counted with PyTorch's dispatch mode on three layers, ReLU, log-softmax and loss: 13 forward, 42 backward.
  job.traced_ops = analysis::traced_ops(
      {.forward_ops = 13.0 / 6 * tensors, .backward_ops = 42.0 / 6 * tensors, .tensors = tensors, .optimizer = "sgd"});
  job.cores = micro.cores.value_or(1);
  std::vector<std::string> assumed;
  job.physical_cores = machine_of(micro.instance, context, assumed).physical_cores();
  job.samples_per_step = batch->second;
  job.bytes_in_per_step = batch->second * (shape.sizes.front() * 4 + 8);  // fp32 features, int64 label
  // torchrun's workers take torch-xla's own loader, as the tutorial has them.
  job.prefetch = job.cores > 1 || micro.kernel.has("prefetch");
  const analysis::JobTime time = analysis::job_time(stack, job);
  for (const char* text : {"stack torch-xla", "SGD without momentum", "device time hidden behind the host's"})
    assumed.emplace_back(text);
  if (job.prefetch) assumed.push_back("data loading runs beside the loop");
  if (job.cores > 1) assumed.push_back("each core has its own batch");
  return in_row_metric(row, {.seconds = time.total, .samples = batch->second * job.cores}, std::move(assumed),
                       shares(time));
}

}  // namespace

Prediction predict_launch(const Row& row, const PredictContext& context) {
  const auto& micro = std::get<MicroRow>(row.job);
  const analysis::Stack stack = context.stack(micro.kernel.name.empty() ? "bare" : micro.kernel.name);
  if (!micro.cores) return Prediction::skip("the number of cores is not published");
  return in_row_metric(row, {.seconds = analysis::launch_seconds(stack, *micro.cores)},
                       {"stack " + stack.name, "device time hidden behind the host's"}, {{"launch", 1}});
}

Prediction predict_host(const Row& row, const PredictContext& context) {
  const auto& micro = std::get<MicroRow>(row.job);
  const Shape shape = parse_shape(micro.shape);
  if (micro.kernel.name == "copy" && shape.bytes) {
    const double seconds = *shape.bytes / context.stack("bare").copy_bandwidth.value;
    return in_row_metric(row, {.seconds = seconds, .bytes = shape.bytes}, {}, {{"copy", 1}});
  }
  if (micro.kernel.name == "mlp") return predict_mlp(row, shape, context);
  return Prediction::skip(fmt::format("'{}' is not modelled", micro.what));
}

}  // namespace validation
