// Decoders of every trait that the layer library has, whatever family combines them.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "workloads/models/decoder/decoder_model.h"
#include "workloads/step/step_graph.h"

namespace workloads_test {

using workloads::DecoderArch;
using workloads::Model;
using workloads::ModelPtr;
using workloads::NormPlace;
using workloads::Step;

/// A decoder that is an architecture and nothing else.
class OfTraits final : public Model {
 public:
  explicit OfTraits(const DecoderArch& arch) : Model{info_of(arch)} {}

  std::vector<workloads::WeightSpec> weights() const override { return workloads::decoder_weights_of(*decoder()); }
  workloads::StepGraph step(const Step& step) const override {
    return workloads::decoder_step(shared_from_this(), step);
  }
  double flops(const Step& step) const override { return workloads::decoder_flops(*decoder(), step); }
  workloads::FrameworkOps traced_ops(const Step&) const override { return {}; }
  std::optional<workloads::Problem> refuses(const workloads::Plan&) const override { return std::nullopt; }
  std::string config_json() const override { return {}; }
  void require_valid(std::string_view) const override {}
  ModelPtr with(const workloads::ModelChange&) const override { return shared_from_this(); }

 private:
  static workloads::ModelInfo info_of(const DecoderArch& arch) {
    workloads::ModelInfo info = workloads::decoder_info("of traits", arch, {});
    info.initializer_range = 0.2;
    return info;
  }
};

inline DecoderArch plain_arch() {
  return {.layers = 3,
          .hidden = 32,
          .vocabulary = 64,
          .positions = 64,
          .blocks = "layers.",
          .block = {.norm = {.rms = true, .eps = 1e-6},
                    .attention = {.heads = 4, .kv_heads = 2, .head = 8},
                    .rotary = {.frequencies = {1, 0.3, 0.1, 0.03}},
                    .mlp = {.size = 48, .gated = true, .activation = isa::Fn::kSilu},
                    .names = {.attention = {.query = "q", .key = "k", .value = "v", .out = "o"},
                              .mlp = {.gate = "gate", .up = "up", .down = "down"},
                              .norm1 = "norm1",
                              .norm2 = "norm2"}},
          .embedding = {.name = "tokens"},
          .head = {.norm = "norm", .name = "head"}};
}

struct Traits {
  const char* name;
  void (*set)(DecoderArch& arch);

  friend void PrintTo(const Traits& t, std::ostream* out) { *out << t.name; }
};

inline const Traits kTraits[] = {
    Traits{"biases and LayerNorm",
           [](DecoderArch& a) {
             a.block.norm.rms = a.block.mlp.gated = false;
             a.block.attention.qkv_bias = a.block.attention.out_bias = a.block.mlp.bias = a.head.bias = true;
           }},
    Traits{"a part of each head turns, and not in every layer",
           [](DecoderArch& a) { a.block.rotary.frequencies.resize(2), a.block.rotary.none_every = 2; }},
    Traits{"soft caps", [](DecoderArch& a) { a.block.attention.soft_cap = 0.5, a.head.soft_cap = 0.3; }},
    Traits{"norms around",
           [](DecoderArch& a) {
             a.block.residual.norms = NormPlace::kAround, a.block.residual.scale = 0.5;
             a.block.names.behind1 = "behind1", a.block.names.behind2 = "behind2";
             a.block.norm.offset = 1;
           }},
    Traits{"norms behind, with biases",
           [](DecoderArch& a) {
             a.block.residual.norms = NormPlace::kBehind;
             a.block.attention.out_bias = a.block.mlp.bias = true;
           }},
    Traits{"norms of the sum", [](DecoderArch& a) { a.block.residual.norms = NormPlace::kAfterSum; }},
    Traits{"parallel parts of one norm, with biases",
           [](DecoderArch& a) {
             a.block.residual.parallel = a.block.attention.out_bias = a.block.mlp.bias = true;
             a.block.names.norm2.clear();
           }},
    Traits{"learned positions from a later row",
           [](DecoderArch& a) {
             a.block.rotary = {}, a.embedding.positions = "positions", a.embedding.first_position = 3;
           }},
    Traits{"tokens narrower than the layers, no norm before the head",
           [](DecoderArch& a) {
             a.embedding.width = 24, a.embedding.projection = "in", a.head.projection = "out", a.head.norm.clear();
           }},
    Traits{"a window in two of three layers",
           [](DecoderArch& a) { a.block.attention.window = {.tokens = 6, .full_every = 3}; }},
    Traits{"a window from the second layer on",
           [](DecoderArch& a) { a.block.attention.window = {.tokens = 6, .first = 1}; }}};

inline ModelPtr of_traits(const Traits& traits) {
  DecoderArch arch = plain_arch();
  traits.set(arch);
  return std::make_shared<OfTraits>(arch);
}

}  // namespace workloads_test
