// Every number format under every way to share a decoder: messages keep the sender's type.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/run_binary.h"

namespace {

using cli_test::Ran;
using cli_test::run;

class NumericsPlans : public testing::TestWithParam<const char*> {};

TEST_P(NumericsPlans, AreProjected) {
  for (const char* plan : {"--tensor_parallel_size 8", "--tensor_parallel_size 8 --zero_1 --recompute selective",
                           "--tensor_parallel_size 2 --pipeline_parallel_size 2 --gradient_accumulation_steps 2",
                           "--tensor_parallel_size 4 --disable_sequence_parallel"}) {
    const Ran ran = run(std::string{"estimate llama-small --instance_type trn1.32xlarge --max_length 128 --numerics "} +
                        GetParam() + " " + plan);
    EXPECT_EQ(ran.code, 0) << plan << ": " << ran.err;
  }
}
// The gradient of a bias is then a row of activations.
TEST_P(NumericsPlans, TrainOnOneRowPerCore) {
  for (const char* plan : {"", " --zero_1"}) {
    const Ran ran = run("verify " TRNSIM_TEST_DIR
                        "/golden/bert_tiny --instance_type trn1.32xlarge --nproc_per_node 8"
                        " --numerics " +
                        std::string{GetParam()} + plan);
    EXPECT_NE(ran.code, 2) << plan << ": " << ran.err;  // fp8 alone is too coarse for this model: 1
  }
}
INSTANTIATE_TEST_SUITE_P(All, NumericsPlans,
                         testing::Values("fp32", "tf32", "bf16", "fp16", "fp8_e4m3", "fp32+bf16-matmul",
                                         "fp32+bf16-all", "fp32+fp16-all", "fp32+fp8_e4m3-all", "bf16+fp32-softmax",
                                         "bf16+fp32-optimizer"));

}  // namespace
