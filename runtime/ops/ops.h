// All ops. A new one: its file in runtime/ops/, a line here, a line in ops.cpp, its test.
#pragma once

#include <span>

#include "runtime/graph/op.h"

namespace runtime {

// element by element
extern const Op kAdd, kMul, kAffine, kAssign, kActivate, kActivateGrad, kDropout, kClamp, kClampGrad, kInverseRoot;
extern const Op kExpRest, kExpRestGrad;
// row by row
extern const Op kMatmul, kLayerNorm, kLayerNormGrad, kRmsNorm, kRmsNormGrad, kHeadSum, kRope, kCrossEntropy, kEmbedding,
    kPositions, kTakeRows, kColSum, kSinkTerms, kRowDot;
// with loops of their own
extern const Op kMatmulTn, kAttention, kAttentionGrad, kEmbeddingGrad, kPositionsGrad, kPutRows, kAdamW, kLamb,
    kLambNorms, kLambApply, kSgd, kMomentum, kUpdate, kSumSquares, kClipScale, kAllReduce, kWideColSum, kAccumulate,
    kDiagonals, kDiagonalsGrad;
// generation: few rows, and keys and values that stay
extern const Op kSkinnyMatmul, kSkinnyActive, kSkinnyRmsNorm, kSkinnyLayerNorm, kCacheFill, kCacheAppend,
    kCachedAttention;
// between tensor-parallel ranks, and over a vocabulary that they share
extern const Op kRankSum, kSumAhead, kRankFork, kRankGather, kGatherAhead, kRankScatter, kScatterAhead, kRowMax,
    kLossSums, kSplitLoss;
extern const Op kStageSend, kStageReceive;
// a mixture of experts
extern const Op kRoute, kRouteGrad, kToSlots, kFromSlots, kGateGrad, kSplitBlocks, kJoinBlocks, kRankExchange, kBalance,
    kGates, kGatedSum, kExpertBlocks;
// optimizer state that data-parallel ranks share
extern const Op kBucketScatter, kBucketGather;

// for graphs of any kind
extern const Op kElement, kRowReduce, kView, kMove, kPlace, kRamp, kEmpty, kBatchMatmul, kTakeRuns, kPutRuns,
    kConvolution, kWindow, kTakeColumns, kJoinColumns;

/// In the order of this file.
std::span<const Op* const> all_ops();

}  // namespace runtime
