#include "runtime/ops/ops.h"

#include <array>

namespace runtime {

std::span<const Op* const> all_ops() {
  static constexpr std::array kOps{
      &kAdd,          &kMul,          &kAffine,        &kAssign,          &kActivate,      &kActivateGrad,
      &kDropout,      &kMatmul,       &kLayerNorm,     &kLayerNormGrad,   &kRmsNorm,       &kRmsNormGrad,
      &kRope,         &kCrossEntropy, &kEmbedding,     &kPositions,       &kTakeRows,      &kColSum,
      &kMatmulTn,     &kAttention,    &kAttentionGrad, &kEmbeddingGrad,   &kPositionsGrad, &kPutRows,
      &kAdamW,        &kLamb,         &kSgd,           &kSumSquares,      &kClipScale,     &kAllReduce,
      &kRankSum,      &kRankFork,     &kRankGather,    &kGatherAhead,     &kRankScatter,   &kRowMax,
      &kLossSums,     &kSplitLoss,    &kBucketScatter, &kBucketGather,    &kWideColSum,    &kAccumulate,
      &kSkinnyMatmul, &kSkinnyActive, &kSkinnyRmsNorm, &kSkinnyLayerNorm, &kCacheFill,     &kCachedAttention,
      &kStageSend,    &kStageReceive, &kHeadSum,       &kRoute,           &kRouteGrad,     &kToSlots,
      &kGates,        &kGatedSum,     &kFromSlots,     &kGateGrad,        &kSplitBlocks,   &kJoinBlocks,
      &kRankExchange, &kBalance,      &kDiagonals,     &kDiagonalsGrad,   &kCacheAppend,   &kLambNorms,
      &kLambApply,    &kMomentum,     &kUpdate,        &kElement,         &kRowReduce,     &kView,
      &kMove,         &kPlace,        &kRamp,          &kEmpty,           &kBatchMatmul,   &kTakeRuns,
      &kPutRuns,      &kConvolution,  &kWindow,        &kTakeColumns,     &kJoinColumns,   &kClamp,
      &kClampGrad,    &kExpertBlocks, &kSinkTerms,     &kSumAhead,        &kScatterAhead,  &kRowDot,
      &kInverseRoot,  &kExpRest,      &kExpRestGrad};
  return kOps;
}

}  // namespace runtime
