// The stack that models the software of a row.
#include "validation/predict/stack_of_row.h"

#include <gtest/gtest.h>

namespace validation {
namespace {

TEST(StackOfRow, PublishedNamesFindTheirFile) {
  EXPECT_EQ(stack_for("HF Trainer on torch-xla"), "hf-trainer");
  EXPECT_EQ(stack_for("torch-xla"), "torch-xla");
  EXPECT_EQ(stack_for("megatron"), "megatron");
  EXPECT_EQ(stack_for("transformers-neuronx"), "transformers-neuronx");
  EXPECT_EQ(stack_for("neuronx-distributed-inference"), "nxd-inference");
  EXPECT_EQ(stack_for("neuronx-distributed"), "neuronx-distributed");
  EXPECT_EQ(stack_for("another"), "");
}

TEST(StackOfRow, AReleaseHasAFileOfItsOwn) {
  TrainingRow row;
  row.stack = "HF Trainer on torch-xla";
  EXPECT_EQ(stack_of(row), "hf-trainer");
  row.release = "optimum-neuron";
  EXPECT_EQ(stack_of(row), "optimum-neuron");
}

}  // namespace
}  // namespace validation
