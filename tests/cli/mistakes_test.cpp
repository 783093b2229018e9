// Mistakes on the command line and in files of settings: exit 2, one error, and the words that matter.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/cli/run_binary.h"

namespace {

using cli_test::Ran;
using cli_test::run;

struct Mistake {
  const char *arguments, *words;
  friend void PrintTo(const Mistake& m, std::ostream* out) { *out << m.arguments; }
};

class Mistakes : public cli_test::Runs, public testing::WithParamInterface<Mistake> {};

TEST_P(Mistakes, AreOneErrorEach) {
  std::ofstream{at("list.toml")} << "max_length = [64, 128]\n";
  std::ofstream{at("text.toml")} << "max_steps = \"many\"\n";
  const Ran ran = run(GetParam().arguments, "cd " + folder_.string() + " &&");
  EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, testing::HasSubstr(GetParam().words));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 2) << ran.err;
}

const Mistake kMistakes[] = {
    {"cost bert_emotion --instances 0", "--instances: 0 is out of range"},
    {"cost --runtime 8:30 --instance_type trn1.2xlarge --zero_1",
     "--zero_1: has no effect on a job whose time is given"},
    {"choose bert_emotion --interrupted_every 6h",
     "it is a flag of trnsim run, trnsim estimate, trnsim numerics, trnsim cost"},
    {"choose bert-small --samples 9 --instance_types inf2.xlarge", "inf2.xlarge: is for inference only"},
    {"choose bert-small --samples 9 --instance_types trn1.2xlarge --instances 2", "cannot be joined"},
    {"choose bert-small --samples 9 --max_steps 2", "--max_steps: has no effect with --samples"},
    {"estimate bert-small --passes fusion", "fix: write +fusion or -fusion"},
    {"estimate bert-small --passes -fusio", "fix: write \"fusion\""},
    {"estimate bert-small --config list.toml", "list.toml:1: --max_length has 2 values"},
    {"run bert_emotion --mode timed --vocab nowhere", "--vocab: nowhere does not exist"},
    {"run bert_tweets --mode timed --config text.toml", "text.toml:1: --max_steps: 'many' is not an integer"},
    {"estimate bert-small --sequences 1000 --interrupted_every 1us", "the job would never end"},
    {"estimate llama-small --task inference --within 0s", "--within: '0s' is not above 0"},
    {"estimate llama-small --task inference --within soon", "--within: 'soon' is not a time"},
    {"estimate vit-mnist --task inference --max_length 5", "patches each"},
    {"estimate vit-mnist --buckets 8,16", "--buckets: the images of ViT all have one length"},
    {"cost whisper-tiny --samples 9 --buckets 8,16", "--buckets: the sounds of Whisper all have one length"},
    {"estimate bert-small --task fill-mask --buckets 8,16", "--buckets: texts with masked tokens all have one length"},
    {"estimate llama-small --task inference --vocab v", "--vocab: applies to texts"},
    {"estimate bert-small --nproc_per_node 3 --instance_type trn1.32xlarge", "--nproc_per_node: trn1.32xlarge cannot"},
    {"estimate llama-small --tensor_parallel_size 8 --pipeline_parallel_size 5 --instance_type trn1.32xlarge",
     "fix: use degrees whose product divides 32, or is a multiple of it with as many --nnodes"},
    {"plan llama-small --instance_type inf2.48xlarge", "--instance_type: inf2.48xlarge is for inference only"},
    {"estimate roberta-base --task pretraining", "--task: RoBERTa has no head for pretraining"},
    {"run bert_emotion --task pretraining", "--task: pretraining reads pairs of sentences"},
    {"plan llama-small --max_new_tokens 4 --global_batch_size 8", "--global_batch_size: applies to training"},
    {"estimate bert-small --set tensor.clock=1e-30x", "tensor.clock is 2.8e-21 per second"},
    {"estimate bert-small --set hbm.bandwidth=1e-20x", "between 1000 and 1e+18 per second"},
    {"generate llama-small --temperature 1", "without weights and tokenizer"},
    {"estimate bert-small --lora_r 4 --lora_r 8", "--lora_r: is given 2 times"},
    {"estimate bert-small --instance_type p4d.24xlarge", "p4d.24xlarge has GPUs, which are not simulated"},
    {"plan bert-small --instance_type g5.xlarge", "compare it by trnsim cost"},
    {"estimate bert-small --instance_type trn9.2xlarge", "unknown machine 'trn9.2xlarge'"},
    {"estimate mixtral-small --capacity_factor -0.5", "--capacity_factor: -0.5 is out of range"},
    {"estimate bert-small --sequences 0.5", "--sequences: '0.5' is not an integer"},
    {"estimate bert-small --sequences nan", "--sequences: 'nan' is not an integer"},
    {"estimate bert-small --samples 1e30", "--sequences: '1e30' is too large"},
    {"cost llama-small --max_new_tokens 9 --samples 9", "--max_new_tokens: applies to requests"},
    {"choose llama-small --max_new_tokens 9", "fix: add --task inference"},
    {"plan llama-small --sequences 0", "--sequences: 0 is out of range"},
    {"plan llama-small --micro_batch_sizes 1,a", "--micro_batch_sizes: 'a' is not an integer"},
    {"choose bert_tweets --samples 9", "--samples: is for a model, but bert_tweets has data of its own"},
    {"choose bert-small --samples 9 --under nan", "--under: 'nan' is not a number"},
    {"cost --runtime 8:30 --epochs 0", "--epochs: 0 is not a number above 0"},
    {"run bert_emotion --mode timed --num_train_epochs 0", "--num_train_epochs: is 0, but a job has at least one step"},
    {"run bert_emotion --mode timed --output_dir text.toml", "--output_dir text.toml: is a file, not a folder"},
    {"estimate bert-small --stack nxd-inference", "--stack: nxd-inference generates text and does not train"},
    {"estimate bert-small --set chip.training=2", "chip.training is 2, but it is a switch"},
    {"estimate bert-small --task inference --max_new_tokens 4", "BERT: is an encoder, which writes no tokens"},
};
INSTANTIATE_TEST_SUITE_P(Of, Mistakes, testing::ValuesIn(kMistakes));

}  // namespace
