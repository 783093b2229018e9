#include "isa/cost.h"

#include <algorithm>
#include <cmath>

#include "isa/operands.h"

namespace isa {
namespace {

/// An engine that streams for `cycles`. VectorE is held before its first element as well.
Cost streamed(const Instr& i, const Timing& t, double cycles) {
  const double occupy = cycles + (i.engine == Engine::kVector ? t.vector_start : 0);
  return {.occupy = occupy, .latency = occupy + t.fixed[static_cast<std::size_t>(i.engine)]};
}

/// Cycles that ScalarE or VectorE is held before the first element.
double start_of(const Instr& i, const Timing& t) {
  if (i.engine == Engine::kVector) return t.vector_start;
  if (i.engine != Engine::kScalar) return 0;
  const bool computes = (i.op == Opcode::kActivation || i.op == Opcode::kActivationReduce) && i.fn != Fn::kCopy;
  return t.scalar_start + (computes ? t.scalar_function : 0);
}

/// A stream of `cycles`, but never followed sooner than by the minimum initiation interval, which its own result does
/// not wait for (v3_vec_reduce_4). ScalarE is held before its first element as well: two instructions that do not wait
/// for each other begin START + N apart (v2_nm286).
Cost floored(const Instr& i, const Timing& t, double cycles) {
  const double held = start_of(i, t) + cycles;
  const double occupy = std::max(t.min_interval, held), fixed = t.fixed[static_cast<std::size_t>(i.engine)];
  return {.occupy = occupy, .latency = std::max(occupy, held + fixed)};
}

double width(const Tile& tile) { return static_cast<double>(tile.cols()); }

/// One partition's elements follow each other without a gap.
bool contiguous(const Tile& tile) {
  std::int64_t expected = 1;
  for (int d = tile.rank - 1; d >= 0; --d) {
    if (tile.free[d].size == 1) continue;
    if (tile.free[d].step != expected) return false;
    expected *= tile.free[d].size;
  }
  return true;
}

/// fp32 operands take several passes through the PE array; a pass per operand type, so one fp32 operand suffices. Half
/// as many when an operand holds ones and zeros only (nki.isa.nc_matmul: "2x better performance").
double passes(const Instr& i, const Timing& t) {
  const bool fp32 = i.a.dtype == Dtype::kFp32 || (i.b && i.b.dtype == Dtype::kFp32);
  if (!fp32) return 1;
  return i.onezero ? std::max(1.0, t.fp32_passes / 2) : t.fp32_passes;
}

/// The MIN_II of TensorE's published formulas is 64 columns of the stationary operand.
constexpr double kPeColumnsFloor = 64;

/// Full-width operands that one memory must deliver: a port gives 128 elements per cycle, and SBUF and PSUM have a port
/// each. This one rule yields the published N (split over SBUF and PSUM) and 2N (both from SBUF).
double streams_per_port(const Instr& i) {
  const std::int64_t full = i.a.cols();
  int sbuf = 0, psum = 0;
  for (const Tile* tile : {&i.a, &i.b, &i.c}) {
    if (!*tile || tile->cols() != full) continue;
    ++(tile->space == Space::kPsum ? psum : sbuf);
  }
  return std::max(sbuf, psum);
}

bool is_narrow(const Tile& tile) { return tile.dtype == Dtype::kBf16 || tile.dtype == Dtype::kFp16; }

bool is_dense(const Tile& tile) { return inner_stride_bytes(tile) <= size_of(tile.dtype); }

/// How much faster VectorE streams elements of any type between tiles that are dense and all in SBUF.
/// Source: AWS Neuron docs, NKI architecture guide v3, data-path width of 256 elements; v3_vec_ts_512.
double wide(const Instr& i, const Timing& t) {
  if (i.engine != Engine::kVector) return 1;
  for (const Tile* tile : {&i.dst, &i.a, &i.b, &i.c})
    if (*tile && tile->cols() > 1 && (tile->space != Space::kSbuf || !is_dense(*tile))) return 1;
  return t.vector.wide;
}

/// Cycles to read the operands that are a number of each partition, before the elements stream.
double operands(const Instr& i, const Timing& t) {
  const bool has = (i.b && i.b.cols() == 1) || (i.c && i.c.cols() == 1);
  return i.engine == Engine::kVector && has && i.a.cols() > 1 ? t.operand_read : 0;
}

/// How much faster VectorE takes a copy, or a tile and numbers, in its modes for narrow types.
/// Source: AWS Neuron docs, NKI architecture guide v3, "Vector Engine Performance Mode".
double narrow_copy(const Instr& i, const Timing& t) {
  if (i.engine != Engine::kVector || !is_narrow(i.a) || !is_narrow(i.dst)) return 1;
  const int psum = (i.a.space == Space::kPsum) + (i.dst.space == Space::kPsum);
  const bool dense = is_dense(i.a) && is_dense(i.dst);
  if (psum == 2 || (psum == 1 && !dense)) return 1;
  return psum == 0 && dense ? t.vector.narrow_copy : t.vector.narrow_copy_part;
}

bool is_add_sub_mul(Alu alu) { return alu == Alu::kAdd || alu == Alu::kSub || alu == Alu::kMul; }

/// Every GpSimdE formula below rests on 8 processors x 16 fp32 lanes, each processor with its own 16 partitions: one
/// element of each partition per cycle after the start. Source: NKI architecture guide v2.
constexpr int kGpSimdProcessors = 8;
constexpr int kPartitionsPerProcessor = kPartitions / kGpSimdProcessors;
/// nki.api.shared: rsqrt (a power) runs about four times slower on GpSimdE than ScalarE's one element per cycle.
constexpr double kGpSimdPower = 4;

}  // namespace

double stationary_load_cycles(const Instr& instr, const Timing& timing) {
  if (instr.op != Opcode::kMatMul && instr.op != Opcode::kPeTranspose) return 0;
  return width(instr.a) * passes(instr, timing) / timing.load_stationary_speedup;
}

std::optional<Fn> activation_table(const Instr& instr) {
  if (instr.op != Opcode::kActivation && instr.op != Opcode::kActivationReduce) return {};
  constexpr std::array kPlain{Fn::kCopy, Fn::kSquare, Fn::kRelu, Fn::kSign, Fn::kAbs};
  if (std::ranges::find(kPlain, instr.fn) != kPlain.end()) return {};
  return instr.fn;
}

namespace cost {

Cost matmul(const Instr& i, const Timing& t) {
  const double columns = std::max(std::min(kPeColumnsFloor, width(i.a)), width(i.b));
  return streamed(i, t, columns * passes(i, t));
}

Cost pe_transpose(const Instr& i, const Timing& t) {
  const bool fp32 = i.a.dtype == Dtype::kFp32;
  // An identity matmul with a [P, F] stationary: the identity's P columns move.
  const double columns = std::max<double>(i.a.partitions, std::min(kPeColumnsFloor, width(i.a)));
  return streamed(i, t, columns * (fp32 ? t.fp32_transpose_passes : 1));
}

Cost tensor_copy(const Instr& i, const Timing& t) {
  return floored(i, t, width(i.a) / std::max(narrow_copy(i, t), wide(i, t)));
}

Cost one_input(const Instr& i, const Timing& t) { return floored(i, t, width(i.a)); }

Cost one_input_reduce(const Instr& i, const Timing& t) {
  return streamed(i, t, std::max(t.min_interval, width(i.a)) + t.min_interval);
}

Cost activation_reduce(const Instr& i, const Timing& t) {
  return streamed(i, t, std::max(t.min_interval, start_of(i, t) + width(i.a)) + t.activation_read);
}

Cost tensor_tensor(const Instr& i, const Timing& t) {
  const double n = width(i.a);
  if (i.engine == Engine::kGpSimd) return streamed(i, t, t.gpsimd_start + n * (i.alu0 == Alu::kPow ? kGpSimdPower : 2));
  const bool split = (i.a.space == Space::kPsum) != (i.b.space == Space::kPsum);
  const bool bf16 = i.a.dtype == Dtype::kBf16 && i.b.dtype == Dtype::kBf16 && i.dst.dtype == Dtype::kBf16;
  const bool fast = bf16 && is_add_sub_mul(i.alu0) && contiguous(i.a) && contiguous(i.b);
  const bool narrow = is_narrow(i.a) && is_narrow(i.b) && is_narrow(i.dst);
  const bool both_sbuf = i.a.space == Space::kSbuf && i.b.space == Space::kSbuf;
  const double both = fast ? n / t.vector.narrow_pair : 2 * n / std::max(narrow ? t.vector.narrow_pair : 1, wide(i, t));
  return floored(i, t, split ? n : both_sbuf ? both : 2 * n);
}

Cost tensor_scalar(const Instr& i, const Timing& t) {
  const double n = width(i.a);
  if (i.engine != Engine::kGpSimd) return floored(i, t, operands(i, t) + n / std::max(narrow_copy(i, t), wide(i, t)));
  const auto is_power = [](Alu alu) { return alu == Alu::kPow || alu == Alu::kRsqrt; };
  const bool power = is_power(i.alu0) || is_power(i.alu1);
  return streamed(i, t, t.gpsimd_start + n * (power ? kGpSimdPower : 1));
}

Cost scalar_tensor_tensor(const Instr& i, const Timing& t) {
  const bool bf16 = i.a.dtype == Dtype::kBf16 && i.c.dtype == Dtype::kBf16;
  const bool fast = bf16 && i.alu0 == Alu::kSub && i.alu1 == Alu::kMul && i.a.cols() % 2 == 0;
  const double streams = fast ? width(i.a) : 2 * width(i.a) / wide(i, t);
  return floored(i, t, operands(i, t) + streams);
}

Cost scan(const Instr& i, const Timing& t) { return floored(i, t, 2 * width(i.a) / wide(i, t)); }

Cost tensor_reduce(const Instr& i, const Timing& t) {
  const bool bf16 = i.a.dtype == Dtype::kBf16 && i.dst.dtype == Dtype::kBf16;
  const bool fast = bf16 && (i.alu0 == Alu::kAdd || i.alu0 == Alu::kMax);
  return floored(i, t, fast ? width(i.a) / 2 : width(i.a));
}

Cost dynamic_copy(const Instr& i, const Timing& t) { return streamed(i, t, std::max(t.dynamic_min, width(i.dst))); }

Cost dynamic_copy_dst(const Instr& i, const Timing& t) { return streamed(i, t, std::max(t.dynamic_min, width(i.a))); }

Cost copy_predicated(const Instr& i, const Timing& t) {
  const bool split = (i.a.space == Space::kPsum) != (i.b.space == Space::kPsum);
  return floored(i, t, split ? width(i.b) : 2 * width(i.b));
}

Cost select(const Instr& i, const Timing& t) { return floored(i, t, width(i.a) * streams_per_port(i)); }

Cost select_reduce(const Instr& i, const Timing& t) {
  const double read = i.dst2 ? t.min_interval : 0;
  return streamed(i, t, std::max(t.min_interval, width(i.a) * streams_per_port(i)) + read);
}

Cost bn_aggr(const Instr& i, const Timing& t) { return floored(i, t, 13 * (width(i.a) / 3)); }

Cost reciprocal(const Instr& i, const Timing& t) { return floored(i, t, 8 * width(i.a)); }

Cost generated(const Instr& i, const Timing& t) { return floored(i, t, width(i.dst)); }

Cost memset(const Instr& i, const Timing& t) {
  const bool half = i.dst.dtype == Dtype::kBf16 || i.dst.dtype == Dtype::kFp16;
  return floored(i, t, half && number_of(i, 0) == 0 ? width(i.dst) / 2 : width(i.dst));
}

Cost gpsimd_pattern(const Instr& i, const Timing& t) { return streamed(i, t, t.gpsimd_start + width(i.dst)); }

Cost local_gather(const Instr& i, const Timing& t) {
  // Published: 150 + n*e/C with C = ((28 + t*e)/(t*e)) / min(4/size, e), t = 4, e elements per index. As printed, the
  // cost falls when the overhead of 28 grows; C makes sense only as elements per cycle with its first factor inverted:
  // the share of useful cycles, t*e/(28 + t*e), times the elements that one 32-bit lane moves.
  constexpr double kOverhead = 28, kPerElement = 4;
  const double elements = std::max(1.0, static_cast<double>(integer_of(i, 0)));
  const double useful = kPerElement * elements / (kOverhead + kPerElement * elements);
  const double lane = std::min(4.0 / size_of(i.a.dtype), elements);
  return streamed(i, t, t.gpsimd_start + width(i.dst) / (useful * lane));
}

Cost n_gather(const Instr& i, const Timing& t) {
  constexpr double kGroup = 512, kPerElement = 8;  // nki.isa.nc_n_gather; local_gather of single elements
  return streamed(i, t, t.gpsimd_start * std::ceil(width(i.dst) / kGroup) + kPerElement * width(i.dst));
}

Cost partition_reduce(const Instr& i, const Timing& t) {
  // A processor folds its partitions one after the other, then one processor folds the others' rows of partial results.
  const int own = std::min<int>(i.a.partitions, kPartitionsPerProcessor);
  const int partials = (i.a.partitions + kPartitionsPerProcessor - 1) / kPartitionsPerProcessor;
  return streamed(i, t, t.gpsimd_start + width(i.a) * (own + partials));
}

Cost sequence_bounds(const Instr& i, const Timing& t) {
  return streamed(i, t, t.gpsimd_start + 2 * width(i.a));  // begins going forth, ends going back
}

Cost waited(const Instr& i, const Timing& t) {
  const double held = t.min_interval + i.imm0 * t.iteration * t.clock[static_cast<std::size_t>(i.engine)];
  return {.occupy = held, .latency = held};
}

Cost issued(const Instr&, const Timing& t) { return {.occupy = t.min_interval, .latency = t.min_interval}; }

}  // namespace cost
}  // namespace isa
