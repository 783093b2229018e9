// The one table of NeuronCore-v2 instructions: engine, semantics, cost and limits of each.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "isa/check/rules.h"
#include "isa/exec/ops.h"
#include "isa/row.h"

namespace isa {

namespace columns {  // short words for the table below

inline constexpr EngineSet kT = set_of(Engine::kTensor), kV = set_of(Engine::kVector), kS = set_of(Engine::kScalar),
                           kG = set_of(Engine::kGpSimd), kVG = kV | kG, kVSG = kVG | kS,
                           kAny = kVSG | kT | set_of(Engine::kSync), kNoEngine{};

inline constexpr SpaceSet kSb = set_of(Space::kSbuf), kPs = set_of(Space::kPsum), kHb = set_of(Space::kHbm),
                          kOn = kSb | kPs, kAll = kOn | kHb, kOpt = kOn | set_of(Space::kNone);

inline constexpr AluSet kNoAlu = set_of(Alu::kNone), kPower = set_of(Alu::kPow, Alu::kRsqrt),
                        kBits = set_of(Alu::kAnd, Alu::kOr, Alu::kXor),
                        kLogical = set_of(Alu::kLogicalAnd, Alu::kLogicalOr, Alu::kLogicalXor),
                        kCompare = set_of(Alu::kEq, Alu::kNe, Alu::kGt, Alu::kGe, Alu::kLt, Alu::kLe),
                        kReduceArith = set_of(Alu::kAdd, Alu::kSub, Alu::kMul, Alu::kMax, Alu::kMin),
                        kPairs = kReduceArith | kCompare | kLogical | set_of(Alu::kDiv),
                        kArith = kPairs | set_of(Alu::kLogicalNot, Alu::kAbs),
                        kBitPairs = kBits | set_of(Alu::kShl, Alu::kShr), kAnyPair = kPairs | kBitPairs,
                        kAnyAlu = kArith | kBitPairs | set_of(Alu::kNot), kReduce = kReduceArith | kBits | kLogical,
                        kPartition = set_of(Alu::kAdd, Alu::kMax, Alu::kAnd, Alu::kOr),
                        kCollective = set_of(Alu::kAdd, Alu::kMax, Alu::kMin);

// The operands of dst <- a, of dst <- a, b and so on.
inline constexpr Form kUnary{.dst = kOn, .a = kOn};
inline constexpr Form kBinary{.dst = kOn, .a = kOn, .b = kOn};
inline constexpr Form kHbmUnary{.dst = kHb, .a = kHb};

inline constexpr std::string_view kNki = "AWS Neuron SDK 2.26.1, nki.isa";
inline constexpr std::string_view kDerived = "derived: none published";
inline constexpr std::string_view kGenerator =
    "the generator of GpSimdE exists from NeuronCore-v3 on: seed VectorE's with set_rng_seed";
inline constexpr std::string_view kSequencer = "derived: the issuing sequencer's MIN_II";
inline constexpr std::string_view kPlain = "max(MIN_II, N)";
inline constexpr std::string_view kActivated = "max(MIN_II, ACT_START + N)";
inline constexpr std::string_view kProfiled = "AWS Neuron SDK 2.26.1, nki.isa; ACT_START: profiles of NeuronCore-v2";
inline constexpr std::string_view kOnDma = "MIN_II, then the DMA engines";
inline constexpr std::string_view kOnBothCores = "the other core, then MIN_II";
inline constexpr std::string_view kSeenAlike =
    "each core raises a semaphore of the other one, which is assumed to see it as late as one of its own: nothing is "
    "published";
inline constexpr std::string_view kOnCcCores = "MIN_II, then the CC-cores";

// clang-format off
inline constexpr std::array<Row, kOpcodeCount> kRows = {{
  // ---- TensorE: M = columns of a, N = columns of b; four passes for fp32
  {Opcode::kMatMul, "matmul", kT, exec::matmul, cost::matmul, "max(min(64, M), N) * passes",
   {.dst = kPs, .a = kSb, .b = kSb, .accumulate = true, .tiled = true}, rule::matmul, 0,
   "K <= 128, M <= 128, N <= 512, dst in one PSUM bank, fp32; pe: 32, 64 or 128 rows and columns, not 32 x 32", kNki,
   "load of a (M/4 cycles * passes) is hidden behind the running matmul; onezero halves the passes of fp32; matmuls "
   "in disjoint parts of the array (pe) run at the same time, the second from cycle min(64, M) of the first on "
   "(derived)"},
  {Opcode::kPeTranspose, "pe_transpose", kT, exec::pe_transpose, cost::pe_transpose, "max(P, min(64, F)) * passes",
   {.dst = kPs, .a = kSb}, rule::pe_transpose, 0,
   "P <= 128, F <= 128, dst in one PSUM bank", kNki,
   "nc_transpose by identity matmul, so fp32 takes the passes of a matmul, and a NaN or Inf spreads over its row"},
  // ---- VectorE and friends: N = elements per partition of a
  {Opcode::kVectorTranspose, "vector_transpose", kV, exec::vector_transpose, cost::one_input, kPlain,
   kUnary, rule::vector_transpose, 0, "32 x 32 at most, same type", kNki, "nc_transpose on VectorE"},
  {Opcode::kTensorTensor, "tensor_tensor", kVG, exec::tensor_tensor, cost::tensor_tensor,
   "max(MIN_II, N) when one input is in PSUM, or all bf16, contiguous, add/sub/mul; else max(MIN_II, 2N); "
   "gpsimd: START + 2N; gpsimd pow: START + 4N",
   {.dst = kOn, .a = kOn, .b = kOn, .alu0 = kAnyPair | set_of(Alu::kPow), .reverse = true}, rule::tensor_tensor,
   kPerAlu,
   "inputs not both PSUM; gpsimd: pow and arithmetic, SBUF only", kNki,
   "GpSimdE derived: two 128-lane streams; pow as the documented 4x of rsqrt"},
  {Opcode::kTensorScalar, "tensor_scalar", kVG, exec::tensor_scalar, cost::tensor_scalar,
   "max(MIN_II, N); gpsimd pow: START + 4N",
   {.dst = kOn, .a = kOn, .b = kOpt, .c = kOpt, .alu0 = kAnyAlu | kPower,
    .alu1 = kAnyAlu | kPower | kNoAlu, .reverse = true, .integers = true},
   rule::tensor_scalar, kPerAlu,
   "b, c: [P, 1]; gpsimd: pow and inverse_sqrt only", kNki,
   "one or two ops at the same cost; GpSimdE derived: pow takes as long as rsqrt, which is documented as 4x slower "
   "there"},
  {Opcode::kTensorScalarReduce, "tensor_scalar_reduce", kV, exec::tensor_scalar_reduce, cost::one_input_reduce,
   "max(MIN_II, N) + MIN_II",
   {.dst = kOn, .dst2 = kOpt, .a = kOn, .b = kOpt, .c = kOpt, .alu0 = kArith, .alu1 = kReduceArith, .reverse = true,
    .negate = true, .registers = true},
   rule::tensor_scalar_reduce, kPerAlu,
   "b, c, dst2: [P, 1]; c: fp32, with load_reduce", kNki, ""},
  {Opcode::kScalarTensorTensor, "scalar_tensor_tensor", kV, exec::scalar_tensor_tensor, cost::scalar_tensor_tensor,
   "max(MIN_II, N) when a and c are bf16, sub then mul, N even; else max(MIN_II, 2N)",
   {.dst = kOn, .a = kOn, .b = kOpt, .c = kOn, .alu0 = kAnyAlu, .alu1 = kAnyPair, .reverse = true, .integers = true},
   rule::scalar_tensor_tensor, kPerAlu,
   "b: [P, 1]; a and c not both PSUM", kNki, "MIN_II floor as on every VectorE row"},
  {Opcode::kTensorTensorScan, "tensor_tensor_scan", kV, exec::tensor_tensor_scan, cost::scan, "max(MIN_II, 2N)",
   {.dst = kOn, .a = kOn, .b = kOn, .c = kOpt, .alu0 = kPairs, .alu1 = kPairs, .reverse = true}, rule::scan, kPerAlu,
   "c: [P, 1]; a and b not both PSUM", kNki, ""},
  {Opcode::kTensorReduce, "tensor_reduce", kV, exec::tensor_reduce, cost::tensor_reduce,
   "max(MIN_II, N/2) when bf16 in and out and add/max; else max(MIN_II, N)",
   {.dst = kOn, .a = kOn, .alu0 = kReduce, .negate = true}, rule::tensor_reduce, kPerAlu,
   "dst: a without its innermost axes", kNki, "MIN_II is named, but not in the printed formula"},
  {Opcode::kTensorCopy, "tensor_copy", kVSG, exec::tensor_copy, cost::tensor_copy,
   "max(MIN_II, N); scalar: max(MIN_II, ACT_START + N)",
   kUnary, rule::copy, 0, "gpsimd: SBUF only", kNki, "ScalarE copies through fp32"},
  {Opcode::kTensorCopyDynamic, "tensor_copy_dynamic", kVSG, exec::tensor_copy_dynamic, cost::dynamic_copy,
   "max(600, N)",
   {.dst = kOn, .a = kOn, .b = kSb, .integers = true, .steps = true}, rule::dynamic_copy, 0, "b: [1, 1] int32", kNki,
   "tensor_copy_dynamic_src; N of dst; 600 = dynamic_min"},
  {Opcode::kCopyPredicated, "copy_predicated", kV, exec::copy_predicated, cost::copy_predicated,
   "max(MIN_II, N) when one of a, b is in PSUM; else max(MIN_II, 2N)",
   {.dst = kOn, .a = kOpt, .b = kOn, .reverse = true, .integers = true}, rule::copy_predicated, 0,
   "b: uint8, uint16, uint32; a and b not both PSUM; dst and a of one type", kNki,
   "tensor_copy_predicated"},
  {Opcode::kSelect, "select", kV, exec::select, cost::select, "max(MIN_II, streams * N)",
   {.dst = kOn, .a = kOn, .b = kOn, .c = kOpt, .reverse = true}, rule::select, 0,
   "b: 8- or 16-bit integers; a and b not both PSUM", kDerived,
   "as copy_predicated; streams = full tiles read from SBUF or from PSUM, the larger"},
  {Opcode::kSelectReduce, "select_reduce", kV, exec::select_reduce, cost::select_reduce,
   "max(MIN_II, streams * N) + MIN_II when dst2 is there; else max(MIN_II, streams * N)",
   {.dst = kOn, .dst2 = kOpt, .a = kOn, .b = kOn, .c = kOpt, .reverse = true, .registers = true}, rule::select, 1,
   "as select; dst2: [P, 1]", kDerived, "as select, and with dst2 MIN_II to read the accumulator"},
  {Opcode::kBnStats, "bn_stats", kV, exec::bn_stats, cost::one_input, kPlain,
   kUnary, rule::bn_stats, 3, "N <= 512; dst: [P, 6]", kNki, ""},
  {Opcode::kBnAggr, "bn_aggr", kV, exec::bn_aggr, cost::bn_aggr, "max(MIN_II, 13 * N/3)",
   kUnary, rule::bn_aggr, 1, "N a multiple of 3; dst: [P, 2]", kNki, ""},
  {Opcode::kReciprocal, "reciprocal", kV, exec::reciprocal, cost::reciprocal, "max(MIN_II, 8N)",
   kUnary, rule::unary, 1, "", kNki, "activation(reciprocal) on ScalarE costs N"},
  {Opcode::kDropout, "dropout", kV, exec::dropout, cost::one_input, kPlain,
   {.dst = kOn, .a = kOn, .b = kOpt}, rule::dropout, 1, "0 <= imm0 <= 1, or b: [P, 1]", kNki, ""},
  {Opcode::kRng, "rng", kV, exec::rng, cost::generated, kPlain,
   {.dst = kOn}, rule::rng, 0, "dst of integers", kDerived, "one element of each partition per cycle, as memset"},
  {Opcode::kMemset, "memset", kVG, exec::memset, cost::memset,
   "max(MIN_II, N/2) when 0 in bf16 or fp16; else max(MIN_II, N)",
   {.dst = kOn, .integers = true}, rule::free, 0, "gpsimd: SBUF only", kNki, ""},
  {Opcode::kStreamShuffle, "stream_shuffle", kV, exec::stream_shuffle, cost::one_input, kPlain,
   kBinary, rule::stream_shuffle, 0, "b: [1, 32] uint8; dst and a of one type, as many columns", kNki,
   "nc_stream_shuffle"},
  {Opcode::kMax8, "max8", kV, exec::max8, cost::one_input, kPlain,
   kUnary, rule::max8, 1, "8 <= N <= 16384; dst: [P, 8]", kNki, "MIN_II floor added to the printed N"},
  {Opcode::kFindIndex8, "find_index8", kV, exec::find_index8, cost::one_input, kPlain,
   kBinary, rule::find_index8, 1, "8 <= N <= 16384; b, dst: [P, 8]; dst uint16 or uint32", kNki,
   "nc_find_index8; MIN_II floor added to the printed N"},
  {Opcode::kMatchReplace8, "match_replace8", kV, exec::match_replace8, cost::one_input, kPlain,
   {.dst = kOn, .dst2 = kOpt, .a = kOn, .b = kOn}, rule::match_replace8, 1,
   "8 <= N <= 16384; b, dst2: [P, 8]; dst2 uint16 or uint32", kNki,
   "nc_match_replace8; printed as min(MIN_II, N), taken as max: SDK 2.23 says N"},
  {Opcode::kTensorCopyDynamicDst, "tensor_copy_dynamic_dst", kVSG, exec::tensor_copy_dynamic_dst,
   cost::dynamic_copy_dst, "max(600, N)",
   {.dst = kOn, .a = kOn, .b = kSb, .integers = true, .steps = true}, rule::dynamic_copy_dst, 0,
   "b: [1, 1] int32", kNki, "600 = dynamic_min"},
  {Opcode::kTensorScalarCumulative, "tensor_scalar_cumulative", kV, exec::tensor_scalar_cumulative, cost::one_input,
   kPlain,
   {.dst = kOn, .a = kOn, .b = kOpt, .c = kOpt, .alu0 = kArith, .alu1 = kReduceArith, .reverse = true,
    .registers = true},
   rule::cumulative, kPerAlu, "b, c: [P, 1] fp32; floats and 8- or 16-bit integers", kDerived,
   "one tile streams, as in tensor_scalar"},
  {Opcode::kSetRngSeed, "set_rng_seed", kV, exec::set_rng_seed, cost::one_input, kPlain,
   {.a = kOn}, rule::set_rng_seed, 0, "a: [1, 1], 32 bits", kDerived, "one element"},
  {Opcode::kRangeSelect, "range_select", kNoEngine, exec::range_select, cost::one_input, kPlain,
   kUnary, rule::unsupported, 0, "", kNki,
   "range_select exists from NeuronCore-v3 on: use affine_select, or iota and select"},
  // ---- ScalarE
  {Opcode::kActivation, "activation", kS, exec::activation, cost::one_input, kActivated,
   {.dst = kOn, .a = kOn, .b = kOpt, .c = kOpt, .registers = true}, rule::activation, 3,
   "b: [P, 1] fp32; c: [P, 1] fp32, bf16, fp16; no number as bias; no bias with reciprocal", kProfiled,
   "any function, scale, bias and register command at the same cost; ACT_START = scalar.start"},
  {Opcode::kActivationReduce, "activation_reduce", kS, exec::activation_reduce, cost::activation_reduce,
   "max(MIN_II, ACT_START + N) + MIN_II",
   {.dst = kOn, .dst2 = kOn, .a = kOn, .b = kOpt, .c = kOpt, .registers = true}, rule::activation, 4,
   "as activation; dst2: [P, 1]; sums only", kNki, "the second MIN_II is activation_read, the read of the accumulator"},
  // ---- GpSimdE: SBUF only; START = gpsimd_start
  {Opcode::kIota, "iota", kG, exec::iota, cost::gpsimd_pattern, "START + N",
   {.dst = kSb, .integers = true, .steps = true}, rule::free, 0, "SBUF only", kNki, "N of dst"},
  {Opcode::kAffineSelect, "affine_select", kG, exec::affine_select, cost::gpsimd_pattern, "START + N",
   {.dst = kSb, .a = kSb, .alu0 = kCompare, .steps = true}, rule::affine_select, 0,
   "SBUF only; floats and 8- or 16-bit integers",
   kNki, ""},
  {Opcode::kLocalGather, "local_gather", kG, exec::local_gather, cost::local_gather,
   "START + N * (28 + 4e) / 4e / min(4/size, e); e = 1: START + 8N",
   {.dst = kSb, .a = kSb, .b = kSb, .integers = true}, rule::local_gather, 0,
   "P a multiple of 16; at most 4096 indices; e (imm0): 1 to 32; b: uint16; dst and a of one type", kNki,
   "printed START + n*e/C has C inverted (it falls as overhead grows); here N = n*e of dst divided by useful elements "
   "per cycle"},
  {Opcode::kPartitionReduce, "partition_reduce", kG, exec::partition_reduce, cost::partition_reduce,
   "START + N * (min(P, 16) + ceil(P/16))",
   {.dst = kSb, .a = kSb, .alu0 = kPartition}, rule::partition_reduce, kPerAlu,
   "SBUF only; dst: [1, N]; add, max, and, or", kDerived,
   "tensor_partition_reduce: 8 processors fold 16 partitions each, one folds their results; a matmul with ones is "
   "faster"},
  {Opcode::kSequenceBounds, "sequence_bounds", kG, exec::sequence_bounds, cost::sequence_bounds, "START + 2N",
   {.dst = kSb, .a = kSb}, rule::sequence_bounds, 0, "a: [1, N], dst: [1, 2, N], fp32 or int32", kDerived,
   "one pass for the begins, one for the ends"},
  {Opcode::kNGather, "n_gather", kG, exec::n_gather, cost::n_gather, "START * ceil(N/512) + 8N",
   {.dst = kSb, .a = kSb, .b = kSb}, rule::n_gather, 0, "SBUF only; b: uint32; dst and a of one type", kDerived,
   "nc_n_gather: documented as one group of instructions per 512 elements; each element as in local_gather"},
  {Opcode::kRandSetState, "rand_set_state", kNoEngine, exec::rand_set_state, cost::one_input, kPlain,
   {.a = kSb}, rule::unsupported, 0, "", kDerived, kGenerator},
  {Opcode::kRandGetState, "rand_get_state", kNoEngine, exec::rand_get_state, cost::generated, kPlain,
   {.dst = kSb}, rule::unsupported, 0, "", kDerived, kGenerator},
  {Opcode::kCustomOp, "custom_op", kNoEngine, exec::unsupported, cost::gpsimd_pattern, "START + N",
   {.dst = kSb, .a = kSb}, rule::unsupported, 0, "", kDerived,
   "nothing is published about library calls on GpSimdE: use the other instructions"},
  // ---- DMA: any sequencer issues; the transfer's time is hw/'s
  {Opcode::kDmaCopy, "dma_copy", kAny, exec::dma_copy, cost::issued, kOnDma,
   {.dst = kAll, .a = kAll, .accumulate = true}, rule::dma_copy, 0,
   "the same number of elements on both sides, in flat order", kSequencer, ""},
  {Opcode::kDmaGather, "dma_gather", kAny, exec::dma_gather, cost::issued, kOnDma,
   {.dst = kAll, .a = kHb, .b = kSb | kHb, .accumulate = true, .skip = true, .integers = true}, rule::dma_gather, 0,
   "a: rows in HBM; b: [P, 1] int32, with `integers` [1, 1]", kSequencer, ""},
  {Opcode::kDmaScatter, "dma_scatter", kAny, exec::dma_scatter, cost::issued, kOnDma,
   {.dst = kHb, .a = kAll, .b = kSb | kHb, .accumulate = true, .skip = true, .integers = true}, rule::dma_scatter, 0,
   "dst: rows in HBM; b: [P, 1] int32, with `integers` [1, 1]", kSequencer, ""},
  {Opcode::kDmaTranspose, "dma_transpose", kAny, exec::dma_transpose, cost::issued, kOnDma,
   {.dst = kAll, .a = kAll}, rule::dma_transpose, 0,
   "dst: [F, P] of a [P, F], [F, M, P] of a [P, M, F], [F, M, L, P] of a [P, M, L, F]", kSequencer,
   "descriptors of one element: far below copy bandwidth"},
  // ---- Collectives: any sequencer issues; HBM to HBM on the CC-cores
  {Opcode::kAllReduce, "all_reduce", kAny, exec::collective, cost::issued, kOnCcCores,
   {.dst = kHb, .a = kHb, .alu0 = kCollective}, rule::collective, 0, "dst as many elements as a", kSequencer, ""},
  {Opcode::kReduceScatter, "reduce_scatter", kAny, exec::collective, cost::issued, kOnCcCores,
   {.dst = kHb, .a = kHb, .alu0 = kCollective}, rule::collective, 0, "a: ranks times the elements of dst", kSequencer,
   ""},
  {Opcode::kAllGather, "all_gather", kAny, exec::collective, cost::issued, kOnCcCores,
   kHbmUnary, rule::collective, 0, "dst: ranks times the elements of a", kSequencer, ""},
  {Opcode::kAllToAll, "all_to_all", kAny, exec::collective, cost::issued, kOnCcCores,
   kHbmUnary, rule::collective, 0, "dst as many elements as a, a multiple of the ranks", kSequencer, ""},
  {Opcode::kBroadcast, "broadcast", kAny, exec::collective, cost::issued, kOnCcCores,
   kHbmUnary, rule::collective, 0, "dst as many elements as a; imm0 a rank of the group", kSequencer, ""},
  {Opcode::kSend, "send", kAny, exec::collective, cost::issued, kOnCcCores,
   {.a = kHb}, rule::free, 0, "peer a rank of the group", kSequencer, ""},
  {Opcode::kRecv, "recv", kAny, exec::collective, cost::issued, kOnCcCores,
   {.dst = kHb}, rule::free, 0, "peer a rank of the group", kSequencer, ""},
  // ---- Sequencers
  {Opcode::kBarrier, "barrier", kAny, exec::collective, cost::issued, kOnCcCores,
   {}, rule::free, 0, "", kSequencer, ""},
  {Opcode::kCoreBarrier, "core_barrier", kNoEngine, exec::wait, cost::issued, kOnBothCores,
   {.dst = kAll | set_of(Space::kNone), .a = kAll | set_of(Space::kNone)}, rule::free, 0, "", kSequencer,
   "a logical core has two physical ones from NeuronCore-v3 on"},
  {Opcode::kWait, "wait", kAny, exec::wait, cost::waited, "MIN_II; imm0 1: and a loop's next iteration",
   {}, rule::free, 0, "at least one wait, a signal, or imm0 1", kSequencer, ""},
}};
// clang-format on
}  // namespace columns

namespace columns {

/// The rows that differ on NeuronCore-v3. Its faster modes are numbers of its machine file that the cost column reads.
constexpr std::array<Row, kOpcodeCount> v3_rows() {
  constexpr std::string_view kV3 = "NKI architecture guide v3; AWS Neuron SDK 2.26.1, nki.isa";
  std::array<Row, kOpcodeCount> rows = kRows;
  const auto at = [&rows](Opcode op) -> Row& { return rows[static_cast<std::size_t>(op)]; };
  at(Opcode::kTensorCopy).formula =
      "max(MIN_II, N/4) when bf16 or fp16, SBUF to SBUF, dense; N/2 with gaps or with PSUM on one side; else N";
  at(Opcode::kTensorScalar).formula = "as tensor_copy; gpsimd pow: START + 4N";
  at(Opcode::kTensorTensor).formula = "as on v2, half of it when bf16 or fp16 and both inputs in SBUF";
  at(Opcode::kPeTranspose).formula = "max(P, min(64, F)), twice for fp32";
  at(Opcode::kPeTranspose).form = {.dst = kPs, .a = kSb, .b = kSb | set_of(Space::kNone), .bitwise = true};
  at(Opcode::kPeTranspose).limits =
      "P <= 128, F <= 128, dst in one PSUM bank; bitwise: NaN and Inf stay in place; b: [P, P], bitwise only, is "
      "multiplied when it is no identity";
  for (const Opcode op : {Opcode::kTensorCopy, Opcode::kTensorScalar, Opcode::kTensorTensor, Opcode::kPeTranspose})
    at(op).source = kV3;
  for (const Opcode op : {Opcode::kActivation, Opcode::kActivationReduce}) at(op).rule = rule::activation_v3;
  at(Opcode::kActivation).limits = "b: [P, 1] fp32; c: [P, 1] fp32, bf16, fp16, or imm1; no bias with reciprocal";
  at(Opcode::kMatMul).limits =
      "K <= 128, M <= 128, N <= 512, dst in one PSUM bank, fp32; pe: 32, 64 or 128 rows and columns";
  Row& range = at(Opcode::kRangeSelect);
  range.engines = kV;
  range.form = {
      .dst = kOn, .dst2 = kOpt, .a = kOn, .b = kOn, .c = kOn, .alu0 = kCompare, .alu1 = kCompare, .registers = true};
  range.rule = rule::range_select;
  range.flops = 2;
  range.limits = "b, c: [P, 1] fp32; dst2: [P, 1]";
  range.source = kV3;
  range.note = "";
  at(Opcode::kRng).engines = kVG;
  for (const Opcode op : {Opcode::kRandSetState, Opcode::kRandGetState}) {
    at(op).engines = kG;
    at(op).rule = rule::rand_state;
    at(op).limits = "SBUF only; [P, 6] uint32";
    at(op).note = "a few words of each partition";
  }
  at(Opcode::kCoreBarrier).engines = kAny, at(Opcode::kCoreBarrier).note = kSeenAlike;
  return rows;
}
inline constexpr std::array<Row, kOpcodeCount> kV3Rows = v3_rows();

}  // namespace columns

inline constexpr const std::array<Row, kOpcodeCount>& kTable = columns::kRows;
constexpr const Row& row(Opcode op) { return kTable.at(static_cast<std::size_t>(op)); }
static_assert(std::ranges::all_of(kTable, [](const Row& r) {
  return &row(r.op) == &r && !r.name.empty() && !r.source.empty() && !r.formula.empty();
}));

/// The row with this name, or nullptr.
constexpr const Row* find_row(std::string_view name) {
  const auto* found = std::ranges::find(kTable, name, &Row::name);
  return found == kTable.end() ? nullptr : found;
}

/// The cost of one instruction on NeuronCore-v2: the cost column of its row.
inline Cost cost_of(const Instr& instr, const Timing& timing) { return row(instr.op).cost(instr, timing); }

}  // namespace isa
