// One instruction of a NeuronCore-v2 program: plain data, no behaviour.
#pragma once

#include <array>
#include <cstdint>

#include "isa/tile.h"

namespace isa {

/// The engine that issues the instruction, through an in-order sequencer of its own.
enum class Engine : std::uint8_t { kTensor, kVector, kScalar, kGpSimd, kSync };
inline constexpr int kEngineCount = 5;
inline constexpr int kDmaQueues = 16;  // rings, each in order
inline constexpr int kCcQueues = 2;    // collectives, each in order

/// Semaphores: one per engine, one per DMA ring, one per collective queue; see Wait.
inline constexpr int kFirstDmaSemaphore = kEngineCount;
inline constexpr int kFirstCcSemaphore = kFirstDmaSemaphore + kDmaQueues;
inline constexpr int kSemaphores = kFirstCcSemaphore + kCcQueues;

enum class Opcode : std::uint8_t {
  // TensorE: dst PSUM [M, N] (+)= a^T b, a stationary SBUF [K, M], b moving SBUF [K, N]
  kMatMul,
  kPeTranspose,  // dst PSUM [F, P] = a^T I, a SBUF [P, F], both <= 128: exact where all of a column of a is finite
  // VectorE (some also ScalarE or GpSimdE: the table says)
  kVectorTranspose,       // dst[i, j] = a[j, i] in 32 x 32 squares
  kTensorTensor,          // dst = a alu0 b
  kTensorScalar,          // dst = (a alu0 s0) alu1 s1; s0: b [P, 1] or imm0; s1: c [P, 1] or imm1; alu1 may be kNone
  kTensorScalarReduce,    // as kTensorScalar with alu0 only; dst2 [P, 1] = alu1 of dst over the free axes, by the
                          // registers
  kScalarTensorTensor,    // dst = (a alu0 s0) alu1 c; s0: b [P, 1] or imm0
  kTensorTensorScan,      // dst[i] = (a[i] alu0 dst[i-1]) alu1 b[i], dst[-1] = imm0 or c [P, 1]
  kTensorReduce,          // dst [P, outer...] = alu0-reduction of a over its innermost free axes; `negate`: times -1
  kTensorCopy,            // dst = a, converted; on ScalarE through fp32 always
  kTensorCopyDynamic,     // dst[i] = a[first + index * unit + i], index: b [1, 1] int32; unit: imm0 elements (0: one);
                          // first: imm1. With imm2 a has one axis, and in place of i there is the sum over dst's free
                          // axes of place * step
  kCopyPredicated,        // where b != 0 (reverse0: where b == 0): dst = a, or imm0 without a
  kSelect,                // dst = b != 0 (reverse0: b == 0) ? a : c (c tile or imm0)
  kSelectReduce,          // kSelect, and dst2 [P, 1] = max over the free axes, by the registers
  kBnStats,               // dst [P, 6] = count, mean, count*var of the even and of the odd elements of a (N <= 512)
  kBnAggr,                // dst [P, 2] = mean, biased variance of the bn_stats triplets in a [P, 3*n]
  kReciprocal,            // dst = 1 / a
  kDropout,               // dst = keep ? a * imm1 : 0, dropped with probability imm0 or b [P, 1]; bits from `rng`
  kRng,                   // dst = uniform random bits from `rng`; after kSetRngSeed from its sequence; on GpSimdE (v3
                          // and later) each partition's from the state of its lane
  kMemset,                // dst = imm0
  kStreamShuffle,         // dst[p] = a[mask[p]] inside 32 partitions; mask: b [1, 32] uint8
  kMax8,                  // dst [P, 8] = the eight largest of a, falling
  kFindIndex8,            // dst [P, 8] = index in a of each of b [P, 8]; of equal ones the successive places
  kMatchReplace8,         // dst = a with the first occurrence of each of b [P, 8] replaced by imm0; dst2 [P, 8]: where
  kTensorCopyDynamicDst,  // dst[first + index * unit + i] = a[i], as kTensorCopyDynamic with dst and a exchanged; the
                          // rest of dst stays
  kTensorScalarCumulative,  // dst[i] = register = (a[i] alu0 s0) alu1 register; s0: b [P, 1] or imm0; kLoadReduce
                            // begins with c [P, 1] or imm1, kResetReduce with the identity
  kSetRngSeed,              // a [1, 1], 32 bits: the seed of later kRng on this core
  kRangeSelect,             // v3 and later: dst = (i alu0 b) and (i alu1 c) ? a : imm1, i = imm0 + the flat free index;
                            // b, c [P, 1]; dst2 [P, 1] = max over the free axes
  // ScalarE
  kActivation,        // dst = fn(a * scale + bias); scale: b [P, 1] or imm0; bias: c [P, 1], or imm1 from v3 on
  kActivationReduce,  // the same, and dst2 [P, 1] = sum of dst over the free axes (before the cast), by the registers
  // GpSimdE
  kIota,             // dst[p, i] = imm0 + p * imm1 + place; place: i * imm2, i the flat free index, or with `steps`
                     // the sum over dst's free axes of index * step
  kAffineSelect,     // dst = (imm0 + p * imm1 + place) alu0 0 ? a : imm3, place as of kIota
  kLocalGather,      // dst[p, k * e + j] = a[p, index[k] + j], j < e = imm0 (0: one); index: b [P, n] uint16, shared by
                     // 16 partitions: the k-th in the (k % 16)-th of them
  kPartitionReduce,  // dst [1, N] = alu0-reduction of a over the partitions
  kSequenceBounds,   // dst [1, 2, N] = start and end of the run of equal ids around each element of a [1, N]; N and -1
                     // for id 0, which is padding
  kNGather,          // dst[p, i] = a[p, index[p, i]]; index: b [P, N] uint32, a's free axes as one
  kRandSetState,     // a [P, 6] uint32: the words from which these lanes of GpSimdE's kRng go on; v3 and later
  kRandGetState,     // dst [P, 6] uint32: the same words as they are now
  kCustomOp,         // a library call on GpSimdE: refused by the checker (nothing published)
  // DMA: issued by any sequencer, moved by the 16 DMA engines on ring `queue`
  kDmaCopy,       // dst = a (+= with accumulate), converted; HBM, SBUF or PSUM on either side
  kDmaGather,     // dst[p] = a[index[p]]: rows of HBM tile a (a.partitions rows, a.pstep apart); index: b [P, 1] int32
  kDmaScatter,    // dst[index[p]] = a[p] (+= with accumulate, in the order of p); dst HBM rows; index as above, or both
                  // b [1, 1]: index[p] = b * ints[0] + p * ints[1]; with `skip`, rows out of range stay unchanged
  kDmaTranspose,  // dst = a^T; of a [P, M..., F] with dst [F, M..., P] the outer and the inner axis change places
  // Collectives: issued by any sequencer, run by a CC-core on HBM; ranks of replica group `group`
  kAllReduce,      // dst = alu0-reduction of a over the ranks
  kReduceScatter,  // dst [n] = the rank's n-th part of the alu0-reduction of a [ranks*n]
  kAllGather,      // dst [ranks*n] = every rank's a [n]
  kAllToAll,       // dst part i = part r of rank i's a
  kBroadcast,      // dst = rank imm0's a
  // In pairs. Ranks of one program meet in both; of two programs, one sends and the other receives, a message in the
  // inbox until then.
  kSend,  // to rank `peer` of the group
  kRecv,  // from rank `peer` of the group
  // Sequencers
  kBarrier,      // all ranks of the group reach it
  kCoreBarrier,  // both physical cores of a logical one reach that of number imm0; a is ready before it, dst after it
  kWait,         // nothing but its waits
};
inline constexpr std::size_t kOpcodeCount = static_cast<std::size_t>(Opcode::kWait) + 1;

/// Arithmetic of VectorE and GpSimdE, in fp32 (bitwise: on the integer bits, shifts logical). Comparisons and logical
/// operations give 1 or 0; every number but zero is true, NaN too. kNot, kLogicalNot, kAbs and kRsqrt take one
/// operand and leave the other one alone.
enum class Alu : std::uint8_t {
  kNone,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kPow,
  kEq,
  kNe,
  kGt,
  kGe,
  kLt,
  kLe,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kNot,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kLogicalNot,
  kAbs,
  kRsqrt,
};
inline constexpr std::size_t kAluCount = 26;

constexpr bool is_bitwise(Alu op) { return op >= Alu::kAnd && op <= Alu::kNot; }
/// Whether the operation reads a alone and ignores the other operand.
constexpr bool takes_one(Alu op) { return op == Alu::kNot || op >= Alu::kLogicalNot; }

/// ScalarE functions (hardware_facts 3.4; AWS Neuron docs, nki.api.shared). kGeluGrad and the like are derivatives.
enum class Fn : std::uint8_t {
  kCopy,
  kSquare,
  kSigmoid,
  kRelu,
  kGelu,
  kGeluTanh,
  kGeluSigmoid,
  kGeluSigmoidGrad,
  kGeluGrad,
  kGeluTanhGrad,
  kSilu,
  kSiluGrad,
  kTanh,
  kTanhGrad,
  kSoftplus,
  kMish,
  kErf,
  kErfGrad,
  kExp,
  kLog,
  kSin,
  kArctan,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kSign,
  kAbs,
};
inline constexpr std::size_t kFnCount = 27;

/// Holds the issuing sequencer until semaphore `sem` has been raised `count` times since the block call began.
/// Semaphore e < 5 is raised when an instruction of engine e with `signal` retires; semaphore kFirstDmaSemaphore + q
/// when a transfer on ring q completes (always); kFirstCcSemaphore + q when a collective on queue q completes.
struct Wait {
  std::uint16_t sem = 0;
  std::uint16_t pad = 0;
  std::uint32_t count = 0;
  bool operator==(const Wait&) const = default;
};
inline constexpr int kMaxWaits = 4;  // more: kWait instructions in front

/// The command of an instruction to its engine's accumulator registers, one fp32 number per partition (lane). ScalarE's
/// sum (kActivation, kActivationReduce), VectorE's take the maximum (kSelectReduce, kRangeSelect) or alu1
/// (kTensorScalarCumulative, kTensorScalarReduce); dst2 is their final content. Source: nki.isa.reduce_cmd,
/// nki.isa.activation.
enum class Registers : std::uint8_t {
  kDefault,      // as kIdle without dst2, as kResetReduce with it; those with alu1: as kResetReduce
  kIdle,         // left alone
  kReset,        // emptied
  kReduce,       // accumulated onto the content
  kResetReduce,  // emptied, then accumulated
  kLoadReduce,   // set to imm1 or c, then accumulated: kTensorScalarCumulative, kTensorScalarReduce
};
inline constexpr std::size_t kRegistersCount = 6;

/// The part of the PE array that a matmul keeps: matmuls in disjoint parts run at the same time. No rows: all of it.
/// Source: nki.isa.nc_matmul, tile_position and tile_size.
struct PeTile {
  std::uint8_t row = 0, column = 0, rows = 0, columns = 0;
  bool operator==(const PeTile&) const = default;
  constexpr explicit operator bool() const { return rows != 0 || columns != 0; }
};

struct Instr {
  Opcode op = Opcode::kWait;
  Engine engine = Engine::kSync;
  Fn fn = Fn::kCopy;
  Alu alu0 = Alu::kNone;
  Alu alu1 = Alu::kNone;
  bool accumulate = false;  // matmul: add to the content of PSUM; DMA: read-modify-write add
  bool reverse0 = false;    // alu0 with its operands exchanged: s0 alu0 a
  bool reverse1 = false;
  bool negate = false;    // tensor_reduce, tensor_scalar_reduce: the reduction times -1
  bool skip = false;      // gather, scatter: an index out of range leaves its row unchanged, without error
  bool integers = false;  // `ints` in place of imm0 to imm3: all 32 bits of them
  bool onezero = false;   // matmul: a or b holds ones and zeros only, which saves passes of fp32
  bool bitwise = false;   // pe_transpose: TensorE's transpose mode, in which NaN and Inf stay where they are
  Registers registers = Registers::kDefault;
  bool signal = false;     // raises the engine's semaphore when it retires
  std::uint8_t queue = 0;  // DMA ring or collective queue
  std::uint8_t group = 0;  // replica group of the program
  std::uint8_t wait_count = 0;
  std::uint16_t peer = 0;   // send, receive
  std::uint16_t alike = 0;  // dropout: so many neighbouring ranks drop the same elements; 0: each its own
  std::uint32_t label = 0;  // index into Block::labels: the graph node it comes from
  std::uint32_t rng = 0;    // stream of random numbers inside the call; 0: roundings draw by the place in the block
  PeTile pe{};              // matmul
  float imm0 = 0, imm1 = 0, imm2 = 0, imm3 = 0;
  std::array<std::int32_t, 4> ints{};
  std::array<std::int32_t, 4> steps{};  // iota, affine_select, dynamic copies: of free axes, outermost first
  Tile dst{}, dst2{}, a{}, b{}, c{};
  std::array<Wait, kMaxWaits> waits{};

  bool operator==(const Instr&) const = default;
};

/// Immediate `which` as an integer, and as the number that fp32 arithmetic takes.
constexpr std::int64_t integer_of(const Instr& i, std::size_t which) {
  return i.integers ? i.ints.at(which)
                    : static_cast<std::int64_t>(std::array{i.imm0, i.imm1, i.imm2, i.imm3}.at(which));
}
constexpr float number_of(const Instr& i, std::size_t which) {
  return i.integers ? static_cast<float>(i.ints.at(which)) : std::array{i.imm0, i.imm1, i.imm2, i.imm3}.at(which);
}

/// Whether the axes of an operand mean something beside the order of its elements.
constexpr bool has_steps(const Instr& i) { return i.steps != decltype(i.steps){}; }

constexpr bool is_dma(Opcode op) { return op >= Opcode::kDmaCopy && op <= Opcode::kDmaTranspose; }
constexpr bool is_collective(Opcode op) { return op >= Opcode::kAllReduce && op <= Opcode::kBarrier; }
constexpr bool between_two(Opcode op) { return op == Opcode::kSend || op == Opcode::kRecv; }

}  // namespace isa
