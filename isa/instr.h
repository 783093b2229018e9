// One instruction of a NeuronCore-v2 program: plain data, no behaviour.
#pragma once

#include <array>
#include <cstdint>

#include "isa/tile.h"

namespace isa {

/// Who issues the instruction: one in-order sequencer each.
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
  kPeTranspose,  // dst PSUM [F, P] = a^T, a SBUF [P, F], both <= 128; exact for finite values
  // VectorE (some also ScalarE or GpSimdE: the table says)
  kVectorTranspose,     // dst[i, j] = a[j, i] in 32 x 32 squares
  kTensorTensor,        // dst = a alu0 b
  kTensorScalar,        // dst = (a alu0 s0) alu1 s1; s0: b [P, 1] or imm0; s1: c [P, 1] or imm1; alu1 may be kNone
  kTensorScalarReduce,  // as kTensorScalar with alu0 only; dst2 [P, 1] = alu1-reduction of dst over the free axes
  kScalarTensorTensor,  // dst = (a alu0 s0) alu1 c; s0: b [P, 1] or imm0
  kTensorTensorScan,    // dst[i] = (dst[i-1] alu0 a[i]) alu1 b[i], dst[-1] = imm0 or c [P, 1]
  kTensorReduce,        // dst [P, outer...] = alu0-reduction of a over its innermost free axis
  kTensorCopy,          // dst = a, converted
  kTensorCopyDynamic,   // dst[i] = a[i + index], index: b [1, 1] int32
  kCopyPredicated,      // where b != 0: dst = a
  kSelect,              // dst = b != 0 ? a : c (c tile or imm0)
  kSelectReduce,        // kSelect, and dst2 [P, 1] = max over the free axes
  kBnStats,             // dst [P, 6] = count, mean, count*var of the even and of the odd elements of a (N <= 512)
  kBnAggr,              // dst [P, 2] = mean, biased variance of the bn_stats triplets in a [P, 3*n]
  kReciprocal,          // dst = 1 / a
  kDropout,             // dst = keep ? a * imm1 : 0, keep with probability 1 - imm0; bits from `rng`
  kRng,                 // dst = uniform random bits (integers) or numbers in [0, 1) (floats) from `rng`
  kMemset,              // dst = imm0
  kStreamShuffle,       // dst[p] = a[mask[p]] inside 32 partitions; mask: b [1, 32] uint8
  kMax8,                // dst [P, 8] = the eight largest of a, falling
  kFindIndex8,          // dst [P, 8] = first index in a of each of b [P, 8]
  kMatchReplace8,       // dst = a with the first occurrence of each of b [P, 8] replaced by imm0
  kRangeSelect,         // v3 and later: dst = (i alu0 b) and (i alu1 c) ? a : imm1, i = imm0 + the flat free index;
                        // b, c [P, 1]; dst2 [P, 1] = max over the free axes
  // ScalarE
  kActivation,        // dst = fn(a * scale + bias); scale: b [P, 1] or imm0; bias: c [P, 1] or imm1
  kActivationReduce,  // the same, and dst2 [P, 1] = sum of dst over the free axes (before the cast)
  // GpSimdE
  kIota,             // dst[p, i] = imm0 + p * imm1 + sum over free axes of index * imm2 of the innermost one
  kAffineSelect,     // dst = (imm0 + p * imm1 + i * imm2) alu0 0 ? a : imm3, i the flat free index
  kLocalGather,      // dst[p, i] = a[p, index[i]]; index: b [P, n] uint16, shared by 16 partitions
  kPartitionReduce,  // dst [1, N] = alu0-reduction of a over the partitions
  kSequenceBounds,   // dst [1, 2, N] = begin and end of the run of equal ids around each element of a [1, N]
  kCustomOp,         // a library call on GpSimdE: refused by the checker (nothing published)
  // DMA: issued by any sequencer, moved by the 16 DMA engines on ring `queue`
  kDmaCopy,       // dst = a (+= with accumulate), converted; HBM, SBUF or PSUM on either side
  kDmaGather,     // dst[p] = a[index[p]]: rows of HBM tile a (a.partitions rows, a.pstep apart); index: b [P, 1] int32
  kDmaScatter,    // dst[index[p]] = a[p] (+= with accumulate, in the order of p); dst HBM rows, index: b [P, 1] int32
  kDmaTranspose,  // dst = a^T by descriptors of one element
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
  kBarrier,  // all ranks of the group reach it
  kWait,     // nothing but its waits
};
inline constexpr std::size_t kOpcodeCount = static_cast<std::size_t>(Opcode::kWait) + 1;

/// Two-operand arithmetic of VectorE and GpSimdE, in fp32 (bitwise: on the integer bits). Comparisons give 1 or 0.
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
};
inline constexpr std::size_t kAluCount = 19;

/// ScalarE functions (hardware_facts 3.4; AWS Neuron docs, nki.api.shared). kGeluGrad and the like are derivatives.
enum class Fn : std::uint8_t {
  kCopy,
  kSquare,
  kSigmoid,
  kRelu,
  kGelu,
  kGeluTanh,
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
inline constexpr std::size_t kFnCount = 25;

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

struct Instr {
  Opcode op = Opcode::kWait;
  Engine engine = Engine::kSync;
  Fn fn = Fn::kCopy;
  Alu alu0 = Alu::kNone;
  Alu alu1 = Alu::kNone;
  bool accumulate = false;  // matmul: add to what PSUM holds; DMA: read-modify-write add
  bool reverse0 = false;    // alu0 with its operands exchanged: s0 alu0 a
  bool reverse1 = false;
  bool signal = false;     // raises the engine's semaphore when it retires
  std::uint8_t queue = 0;  // DMA ring or collective queue
  std::uint8_t group = 0;  // replica group of the program
  std::uint8_t wait_count = 0;
  std::uint16_t peer = 0;   // send, receive
  std::uint32_t label = 0;  // index into Block::labels: the graph node it comes from
  std::uint32_t rng = 0;    // stream of random numbers inside the call (dropout forward and backward share one)
  float imm0 = 0, imm1 = 0, imm2 = 0, imm3 = 0;
  Tile dst{}, dst2{}, a{}, b{}, c{};
  std::array<Wait, kMaxWaits> waits{};

  bool operator==(const Instr&) const = default;
};

constexpr bool is_dma(Opcode op) { return op >= Opcode::kDmaCopy && op <= Opcode::kDmaTranspose; }
constexpr bool is_collective(Opcode op) { return op >= Opcode::kAllReduce && op <= Opcode::kBarrier; }
constexpr bool between_two(Opcode op) { return op == Opcode::kSend || op == Opcode::kRecv; }

}  // namespace isa
