// An NKI kernel during tracing: each call of its language adds instructions on virtual buffers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/target.h"
#include "runtime/compiler/emitter.h"
#include "runtime/compiler/engine_books.h"
#include "runtime/nki/bodies.h"
#include "runtime/nki/doubts.h"
#include "runtime/nki/loops.h"
#include "runtime/nki/placed.h"
#include "runtime/nki/races.h"
#include "runtime/nki/view.h"

namespace runtime::nki {

/// The arguments of nl.ndarray, nl.zeros and the like.
struct TensorSpec {
  isa::Space space = isa::Space::kSbuf;
  isa::Dtype dtype = isa::Dtype::kFp32;
  std::vector<std::int64_t> sizes{};
  int partition_axis = 0;  // axes in front of it count blocks
  std::optional<double> fill{};
  std::string name{};
  std::vector<Place> places{};  // explicit allocation: one for each block
};

class Trace {
 public:
  /// The trace that a tensor belongs to. Errors: Fault::kProgram when it is gone, with its kernel.
  static Trace& of(const View& view);

  /// Keeps a reference to `target`. More than `most_instructions` are an endless kernel.
  Trace(const isa::Target& target, std::string name, std::size_t most_instructions);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  const isa::Target& target() const { return target_; }

  /// A tensor in HBM with a register of its own, or on the chip. Errors: Fault::kProgram for a partition axis that is
  /// too long; Fault::kCapacity for a block that its memory does not hold.
  View tensor(const TensorSpec& spec);
  View temporary(isa::Space space, isa::Dtype dtype, const std::vector<std::int64_t>& sizes);

  /// A number as the label of the instructions to come: a line of the kernel.
  std::uint32_t add_label(std::string text);
  void label(std::uint32_t number) { label_ = number; }

  struct Op {
    isa::Instr instr;
    const View *dst = nullptr, *dst2 = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
    bool any_engine = false;  // of those that can: the one that is done first
  };
  /// Errors: Fault::kProgram when the checker refuses it.
  void emit(const Op& op);
  /// `dst[...] = src`; a result without another name is written to dst at once.
  void assign(const View& dst, const View& src, bool unnamed);
  /// `dst += src` of a matmul: adds in PSUM. False when src is no such result.
  bool accumulate(const View& dst, const View& src, bool unnamed);
  /// Whether nothing has been added up there yet, so that the first product may simply be written.
  bool starts_sum(const View& part);
  /// The row of `view` in each of `partitions` partitions: TensorE multiplies it with ones, VectorE repeats whole
  /// numbers of 32 bits. In PSUM when `in_psum` and a bank holds it, else in SBUF.
  View spread(const View& view, std::int64_t partitions, bool in_psum);
  /// [partitions, 1] of this number, fp32.
  View constant(float value);
  void copy(const View& dst, const View& src);

  /// An affine loop begins, its next iteration, and it ends.
  void begin_loop();
  void next_iteration();
  void end_loop();
  /// A loop that the sequencers count begins: the number of its body.
  std::size_t begin_body() { return bodies_.enter(); }
  /// An iteration of it ends: the next instruction of each engine and ring follows all before it.
  void next_in_body(std::size_t body);
  void end_body(std::size_t body) { bodies_.leave(body); }

  /// Another program of the launch grid goes on: its own loops are open. Loops in which programs take turns are not
  /// joined.
  void program(std::size_t number);
  /// Each program of the launch grid has a core, and its memories, of its own.
  void set_apart() { apart_ = true; }
  /// Each program's engines are chosen for its own work, for part().
  void set_timed() { timed_ = true; }
  /// The instructions to come are for the values alone: no program's part() has them.
  void set_beside(bool beside) { beside_ = beside; }
  /// The trace of one program, which is all that its core does. Errors: as the constructor.
  std::unique_ptr<Trace> part(std::size_t program) const;
  /// The programs of the launch grid have met.
  void programs_met() { races_.meet(); }

  /// How many instructions there are.
  std::size_t made() const { return block_.instrs.size(); }

  VirtualBlock finish();
  /// The block as far as it has come, with a last transfer of `part`, on the chip, to `to`, in HBM.
  VirtualBlock so_far(const View& to, const View& part);
  /// The instructions of the finished block whose engine the kernel leaves open.
  std::vector<std::uint32_t> open() { return std::move(open_); }
  /// The innermost affine loops of the finished block.
  std::vector<LoopTrace> loops() { return std::move(loops_); }
  /// The kernel is of the newer dialect, whose compiler has rules of its own.
  void set_newer() { newer_ = true; }
  bool newer() const { return newer_; }
  /// The kernel has placed tensors of SBUF itself.
  bool places() const { return !direct_.empty() && direct_.begin()->second[0].buffer != 0; }
  /// Doubts that arose while it was traced.
  const std::vector<Doubt>& doubts() const { return doubts_; }

 private:
  static constexpr std::uint32_t kNoProgram = ~0U;
  struct Direct {  // the part of a memory that a kernel allocates itself
    std::uint32_t buffer = 0;
    std::int64_t bytes = 0;
  };

  /// Errors: Fault::kProgram for a tensor of another kernel.
  void require_own(const View& view) const;
  std::uint32_t buffer_of(const View& view);
  BlockState& state_of(const View& view) { return view.storage->blocks.at(static_cast<std::size_t>(view.block)); }
  Tile on_chip_tile(const View& view);
  Tile read_tile(const View& view);
  Tile write_tile(const View& view);
  void note_write(const View& view);
  void doubt(std::string_view text);
  void note_race(const isa::Instr& instr);
  void fill_block(const View& view, BlockState& state);
  std::uint32_t push(const isa::Instr& instr);
  std::uint32_t maker() const { return beside_ ? kNoProgram : static_cast<std::uint32_t>(program_); }
  EngineBooks& books();
  void check(isa::Instr instr) const;
  isa::Instr on_engine(const isa::Instr& instr);
  isa::Instr on_ring(const isa::Instr& instr);
  View shuffled(const View& view, std::int64_t partitions);
  bool redirect(const View& dst, const View& src, bool adds);
  bool copy_written(const View& dst, const View& src);  // where instructions wrote `src`; masked places stay
  bool may_write(const isa::Instr& instr, const Tile& dst) const;
  bool untouched_since(std::uint32_t first, const Tile& dst) const;
  std::vector<isa::Instr> with_fills() const;

  const std::shared_ptr<Trace*> self_ = std::make_shared<Trace*>(this);  // for its tensors, which may outlive it
  const isa::Target& target_;
  const std::size_t most_instructions_;
  VirtualBlock block_;
  std::vector<std::uint32_t> makers_;                        // of the instructions: a program, or kNoProgram
  std::vector<std::pair<std::uint32_t, isa::Instr>> fills_;  // each goes in front of the instruction of that number
  std::uint32_t label_ = 0;
  std::map<std::uint32_t, EngineBooks> books_;  // by program where each is timed apart
  Constants<View> constants_;
  std::map<std::size_t, std::array<Direct, 2>> direct_;  // by core
  std::vector<LoopTrace> loops_, open_loops_;
  std::map<std::size_t, std::vector<LoopTrace>> other_loops_;  // of programs that wait
  Bodies bodies_;
  std::size_t program_ = 0;
  std::uint64_t tensors_ = 0;  // declared so far
  bool newer_ = false;
  std::vector<std::uint32_t> open_;
  Placed placed_;
  bool shared_ = false;  // by several programs
  bool apart_ = false;   // each on a core of its own
  bool timed_ = false;   // each by itself
  bool beside_ = false;
  Races races_;
  std::vector<Doubt> doubts_;
};

}  // namespace runtime::nki
