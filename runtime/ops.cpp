#include "runtime/ops.h"

#include <array>

namespace runtime {

std::span<const Op* const> all_ops() {
  static constexpr std::array kOps{&kAdd,       &kMul,           &kAffine,        &kActivate,      &kActivateGrad,
                                   &kDropout,   &kMatmul,        &kLayerNorm,     &kLayerNormGrad, &kCrossEntropy,
                                   &kEmbedding, &kPositions,     &kTakeRows,      &kColSum,        &kMatmulTn,
                                   &kAttention, &kAttentionGrad, &kEmbeddingGrad, &kPositionsGrad, &kPutRows,
                                   &kAdamW,     &kSgd,           &kSumSquares,    &kClipScale,     &kAllReduce};
  return kOps;
}

}  // namespace runtime
