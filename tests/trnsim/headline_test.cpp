// The first line of an answer adds up: steps, start, evaluations, checkpoints and read-backs are the time that it says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <sstream>

#include "base/error.h"
#include "trnsim/plans/answer.h"
#include "trnsim/project/estimate.h"
#include "trnsim/project/figures.h"
#include "trnsim/run/run.h"
#include "workloads/jobs/workload.h"

namespace trnsim {
namespace {

/// "310.12 ms", "23.41 s", "8:10.6", "2:20:04" in seconds.
double seconds_in(const std::string& text) {
  if (text.ends_with(" us")) return std::stod(text) / 1e6;
  if (text.ends_with(" ms")) return std::stod(text) / 1e3;
  if (text.ends_with(" s")) return std::stod(text);
  double sum = 0;
  std::istringstream parts{text};
  for (std::string part; std::getline(parts, part, ':');) sum = sum * 60 + std::stod(part);
  return sum;
}

/// The time that the sentence says, and that of its parts.
std::pair<double, double> read(const std::string& sentence) {
  const std::string time = R"(([\d:.]+(?: us| ms| s)?))";
  std::smatch head;
  const std::regex whole{"^" + time + R"((?: \(h?:?mm?:ss\))? = (\d+) steps? of )" + time + R"(((?: \+ [^;]*)?);.*)"};
  if (!std::regex_match(sentence, head, whole)) return {0, -1};
  double sum = std::stod(head[2]) * seconds_in(head[3]);
  const std::string rest = head[4];
  const std::regex part{R"( \+ [a-z ]+ )" + time};
  for (std::sregex_iterator at{rest.begin(), rest.end(), part}, end; at != end; ++at) sum += seconds_in((*at)[1]);
  return {seconds_in(head[1]), sum};
}

void expect_adds_up(const Job& job) {
  const Projection p = project(job);
  const std::string sentence = answer(job, p, {}).time;
  const auto [said, sum] = read(sentence);
  EXPECT_NEAR(said, p.time.total, 1e-3 * p.time.total) << sentence;
  EXPECT_NEAR(sum, said, 1e-3 * said) << sentence;
  const analysis::Figures f = figures_of(job, p);
  EXPECT_NEAR(*f.work.steps * *f.time.step_seconds + *f.compile.start_seconds + *f.time.evaluations_seconds +
                  *f.time.checkpoints_seconds + *f.time.read_backs_seconds,
              *f.time.train_runtime, 1e-6 * *f.time.train_runtime);
}

TEST(Headline, OfShippedWorkloadsAddsUp) {
  for (const std::string& name : workloads::workload_names()) {
    SCOPED_TRACE(name);
    const Job job = projected_job(workloads::load_workload(name), {});
    if (!job.generation) expect_adds_up(job);
  }
}

TEST(Headline, OfDrawnJobsAddsUp) {
  std::mt19937 random{34};
  const auto draw = [&](std::initializer_list<std::int64_t> of) { return *(of.begin() + random() % of.size()); };
  for (int i = 0; i < 30; ++i) {
    Settings s;
    s.machine.instance_type = i % 2 ? "trn1.2xlarge" : "trn2.3xlarge", s.machine.nproc_per_node = 2;
    s.training.per_device_train_batch_size = draw({1, 2, 8}), s.training.gradient_accumulation_steps = draw({1, 3});
    s.data.max_length = draw({32, 64, 128}), s.output.logging_steps = draw({1, 10, 100});
    s.output.save_steps = draw({0, 10, 50}), s.output.async_save = i % 3 == 0;
    s.machine.stack = i % 4 == 0 ? "hf-trainer" : i % 4 == 1 ? "optimum-neuron" : "torch-xla";
    const std::string model = i % 3 ? "llama-small" : "bert-small";
    SCOPED_TRACE(fmt::format("{} {}", i, model));
    expect_adds_up(jobs_of_model(model, s, static_cast<double>(draw({500, 7000, 250000})))(s));
  }
}

TEST(Headline, PackedDataHaveAsManyTokensAtEveryLength) {
  const workloads::Workload dolly = workloads::load_workload("llama2_7b_dolly");
  for (const std::int64_t length : {1024, 2048, 4096}) {
    Settings s;
    s.data.max_length = length, s.given = {"max_length"};
    for (const Job& job : {projected_job(dolly, s), job_of(dolly, s)}) {
      EXPECT_EQ(job.samples() * job.mean_length(), 1720.0 * 2048 * 3) << length;
      EXPECT_EQ(job.steps(), 3 * std::ceil(1720.0 * 2048 / static_cast<double>(length) / 64)) << length;
    }
  }
  Settings few;
  few.data.max_train_samples = 100, few.given = {"max_train_samples"};
  EXPECT_EQ(projected_job(dolly, few).samples(), 300);
}

TEST(Checkpoints, TakeTheirBytesOverTheRates) {
  const auto seconds = [](auto change) {
    Settings s;
    s.machine.instance_type = "trn1.32xlarge", s.plan.tensor_parallel_size = 8, s.plan.zero_1 = true;
    s.training.per_device_train_batch_size = 1, s.data.max_length = 128, s.output.save_steps = 10;
    change(s);
    const Job job = jobs_of_model("llama-small", s, 8000)(s);
    const Projection p = project(job);
    return std::pair{p.time.part("checkpoints") / std::floor(p.steps / 10), job.parameters()};
  };
  const auto [plain, parameters] = seconds([](Settings&) {});
  // bf16 weights and two bf16 moments: 6 bytes a parameter, copied at 3.68 GB/s and written at 125 MiB/s.
  const double bytes = 6 * parameters;
  EXPECT_NEAR(plain, bytes / 3.68e9 + bytes / (125 * 1048576.0), 0.2 * plain);  // and the overlap that ends
  const double fast = seconds([](Settings& s) { s.output.save_bandwidth = "1 GB/s"; }).first;
  EXPECT_NEAR(plain - fast, bytes / (125 * 1048576.0) - bytes / 1e9, 1e-6 * plain);
  const double master = seconds([](Settings& s) { s.plan.optimizer_use_master_weights = true; }).first;
  EXPECT_GT(master, 1.5 * plain);  // fp32 moments and weights beside them: 14 bytes
  EXPECT_LT(seconds([](Settings& s) { s.output.async_save = true; }).first, plain);
}

// A disk that is slower than the steps between two checkpoints makes the next one wait, with interruptions as without.
TEST(Checkpoints, AnInterruptedJobWaitsForThoseInTheBackground) {
  Settings s;
  s.data.max_length = 128, s.output.interrupted_every = "1000h";
  s.output.save_steps = 2, s.output.async_save = true, s.output.save_bandwidth = "1 MB/s";
  const Projection p = project(jobs_of_model("llama-small", s, 3e4)(s));
  ASSERT_TRUE(p.time.interrupted && p.time.interrupted->as_saved);
  EXPECT_GT(p.time.part("checkpoints"), p.time.total / 2);
  EXPECT_GT(*p.time.interrupted->as_saved, 0.99 * p.time.total);
  EXPECT_LT(*p.time.interrupted->as_saved, 1.1 * p.time.total);
  EXPECT_GT(p.time.interrupted->seconds, p.time.total - p.time.part("checkpoints") + p.time.checkpoint);
}

TEST(Checkpoints, AnInterruptedJobHasAnExpectedTime) {
  Settings s;
  s.data.max_length = 128, s.output.interrupted_every = "1h";
  const Job job = jobs_of_model("llama-small", s, 3e6)(s);
  const Projection p = project(job);
  ASSERT_TRUE(p.time.interrupted);
  EXPECT_GT(p.time.interrupted->seconds, p.time.total);
  EXPECT_LT(p.time.interrupted->seconds, 1.2 * p.time.total);
  EXPECT_NEAR(*p.time.interrupted->dollars, p.time.interrupted->seconds / 3600 * 0.23, 1e-9);  // spot
  EXPECT_FALSE(p.time.interrupted->as_saved);
  const auto bought = [&](auto change) {
    Settings other = s;
    change(other);
    const Projection q = project(jobs_of_model("llama-small", other, 3e6)(other));
    return *q.time.interrupted->dollars / (q.time.interrupted->seconds / 3600);
  };
  EXPECT_NEAR(bought([](Settings& o) { o.machine.set = {"price.spot=$0.5/h"}; }), 0.5, 1e-9);
  EXPECT_NEAR(bought([](Settings& o) { o.machine.price = "sagemaker"; }), 1.54, 1e-9);  // no EC2 spot instance
  s.output.save_steps = static_cast<std::int64_t>(p.time.interrupted->save_steps) / 8;
  const Projection often = project(jobs_of_model("llama-small", s, 3e6)(s));
  EXPECT_GT(*often.time.interrupted->as_saved, often.time.interrupted->seconds);
  EXPECT_NEAR(often.time.interrupted->seconds, p.time.interrupted->seconds, 1e-3 * p.time.interrupted->seconds);
  s.output.interrupted_every = "100h";
  EXPECT_LT(project(jobs_of_model("llama-small", s, 3e6)(s)).time.interrupted->seconds, p.time.interrupted->seconds);
  s.output.interrupted_every = "5 GHz";
  EXPECT_THROW(jobs_of_model("llama-small", s, 3e6)(s), base::Error);
}

}  // namespace
}  // namespace trnsim
