#include <fmt/format.h>

#include <array>
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"
#include "isa/asm.h"
#include "isa/names.h"
#include "isa/text/cursor.h"

namespace isa {
namespace {

using asm_text::Cursor;

template <typename E, std::size_t N>
std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < N; ++i) names.emplace_back(name_of(static_cast<E>(i)));
  return names;
}

/// Reads a word that must be one of `names`.
template <typename E, std::size_t N>
E named(Cursor& in, std::string_view what, std::optional<E> (*from)(std::string_view)) {
  const std::string_view word = in.word(what);
  if (const auto found = from(word)) return *found;
  in.fail(fmt::format("\"{}\" is not {}", word, what), base::suggest_fix(word, all_names<E, N>()));
}

Dtype parse_dtype(Cursor& in) { return named<Dtype, kDtypeCount>(in, "a data type", dtype_from); }

void parse_offset(Cursor& in, Tile& tile) {
  const std::string_view word = in.peek_word();
  if (word.empty()) {
    tile.offset = in.integer<std::int64_t>("the byte offset");
    return;
  }
  in.word("a register");
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), tile.reg);
  if (word.front() != 'r' || error != std::errc{} || end != word.data() + word.size())
    in.fail(fmt::format("\"{}\" is not a register", word), "write r0, r1, ... or a byte offset");
  const bool minus = in.peek() == '-';
  if (!minus && !in.accept("+")) return;
  tile.offset = in.integer<std::int64_t>("the byte offset");
}

Tile parse_tile(Cursor& in) {
  Tile tile;
  if (in.accept("_")) return tile;
  tile.space = named<Space, 4>(in, "a memory", space_from);
  if (!tile) in.fail("\"none\" is not a memory", "write \"_\" for an absent operand");
  in.expect("[");
  tile.start = in.integer<std::uint8_t>("the first partition");
  in.expect(":");
  const int end = in.integer<std::int32_t>("the partition after the last");
  if (end < tile.start) in.fail("the partitions end before they begin", "write them as first:last+1");
  tile.partitions = static_cast<std::int32_t>(end - tile.start);
  if (in.accept("/")) tile.pstep = in.integer<std::int64_t>("the partition step");
  in.expect(",");
  parse_offset(in, tile);
  for (tile.rank = 0; in.accept(","); ++tile.rank) {
    if (tile.rank == tile.free.size()) in.fail("a tile has at most four free axes", "fold axes into one");
    Dim& dim = tile.free[tile.rank];
    dim.size = in.integer<std::uint32_t>("the size of an axis");
    if (in.accept("@")) dim.step = in.integer<std::int32_t>("the step of an axis");
  }
  in.expect("]");
  tile.dtype = parse_dtype(in);
  return tile;
}

/// Whether a tile begins with this word. "none" is an ALU operation, an absent tile is "_".
bool is_memory(std::string_view word) {
  const auto space = space_from(word);
  return word == "_" || (space && *space != Space::kNone);
}

void parse_tiles(Cursor& in, std::initializer_list<Tile*> tiles) {
  std::size_t count = 0;
  do {
    if (count == tiles.size())
      in.fail(fmt::format("more than {} here", base::counted(count, "operand")), "remove the last one");
    *tiles.begin()[count++] = parse_tile(in);
  } while (in.accept(","));
}

void parse_waits(Cursor& in, Instr& instr) {
  std::vector<std::string> names;
  for (int s = 0; s < kSemaphores; ++s) names.push_back(semaphore_name(s));
  do {
    const std::string_view word = in.word("a semaphore");
    const auto semaphore = semaphore_from(word);
    if (!semaphore) in.fail(fmt::format("\"{}\" is not a semaphore", word), base::suggest_fix(word, names));
    if (instr.wait_count == kMaxWaits) in.fail("more than four waits", "put a wait instruction before it");
    in.expect(">=");
    instr.waits[instr.wait_count++] = {static_cast<std::uint16_t>(*semaphore), 0, in.integer<std::uint32_t>("a count")};
  } while (semaphore_from(in.peek_word()));
}

constexpr std::array<std::string_view, 4> kInts = {"int0", "int1", "int2", "int3"};
constexpr std::array<std::string_view, 4> kSteps = {"step0", "step1", "step2", "step3"};

/// "row+rows,column+columns".
void parse_pe(Cursor& in, PeTile& pe) {
  pe.row = in.integer<std::uint8_t>("the first row");
  in.expect("+");
  pe.rows = in.integer<std::uint8_t>("rows");
  in.expect(",");
  pe.column = in.integer<std::uint8_t>("the first column");
  in.expect("+");
  pe.columns = in.integer<std::uint8_t>("columns");
}

/// Words with a number behind "=".
bool parse_number(Cursor& in, Instr& instr, std::string_view word) {
  const auto is = [&](std::string_view key) {
    if (word != key) return false;
    in.word("a key");
    in.expect("=");
    return true;
  };
  if (is("imm0")) return instr.imm0 = in.float_number(), true;
  if (is("imm1")) return instr.imm1 = in.float_number(), true;
  if (is("imm2")) return instr.imm2 = in.float_number(), true;
  if (is("imm3")) return instr.imm3 = in.float_number(), true;
  for (std::size_t k = 0; k < instr.ints.size(); ++k)
    if (is(kInts[k])) return instr.ints[k] = in.integer<std::int32_t>("an integer"), true;
  for (std::size_t d = 0; d < instr.steps.size(); ++d)
    if (is(kSteps[d])) return instr.steps[d] = in.integer<std::int32_t>("a step"), true;
  if (is("registers"))
    return instr.registers = named<Registers, kRegistersCount>(in, "a register command", registers_from), true;
  if (is("pe")) return parse_pe(in, instr.pe), true;
  if (is("queue")) return instr.queue = in.integer<std::uint8_t>("a queue"), true;
  if (is("group")) return instr.group = in.integer<std::uint8_t>("a replica group"), true;
  if (is("peer")) return instr.peer = in.integer<std::uint16_t>("a peer"), true;
  if (is("alike")) return instr.alike = in.integer<std::uint16_t>("a number of ranks"), true;
  if (is("rng")) return instr.rng = in.integer<std::uint32_t>("a random stream"), true;
  if (is("label")) return instr.label = in.integer<std::uint32_t>("a label index"), true;
  return false;
}

bool parse_flag(Cursor& in, Instr& instr) {
  if (in.accept("reverse0")) return instr.reverse0 = true;
  if (in.accept("reverse1")) return instr.reverse1 = true;
  if (in.accept("accumulate")) return instr.accumulate = true;
  if (in.accept("negate")) return instr.negate = true;
  if (in.accept("skip")) return instr.skip = true;
  if (in.accept("integers")) return instr.integers = true;
  if (in.accept("onezero")) return instr.onezero = true;
  if (in.accept("bitwise")) return instr.bitwise = true;
  if (in.accept("signal")) return instr.signal = true;
  if (!in.accept("wait")) return false;
  parse_waits(in, instr);
  return true;
}

/// An ALU step or a function; `steps` counts the ALU steps so far.
bool parse_function(Cursor& in, Instr& instr, std::string_view word, int& steps) {
  if (const auto alu = alu_from(word)) {
    in.word("an ALU operation");
    if (steps == 2) in.fail("a third ALU operation", "remove it");
    (steps++ == 0 ? instr.alu0 : instr.alu1) = *alu;
    return true;
  }
  const auto fn = fn_from(word);
  if (!fn) return false;
  in.word("a function");
  instr.fn = *fn;
  return true;
}

[[noreturn]] void fail_word(Cursor& in, std::string_view word) {
  std::vector<std::string> names = all_names<Alu, kAluCount>();
  for (const std::string& fn : all_names<Fn, kFnCount>()) names.push_back(fn);
  for (const char* key :
       {"sbuf",    "psum",      "hbm",   "reverse0", "reverse1", "accumulate", "negate", "skip", "integers", "onezero",
        "bitwise", "registers", "pe",    "signal",   "wait",     "imm0",       "imm1",   "imm2", "imm3",     "step0",
        "step1",   "step2",     "step3", "queue",    "group",    "peer",       "alike",  "rng",  "label"})
    names.emplace_back(key);
  if (word.empty()) in.fail_here("neither a word nor an operand", "see docs/asm.md for the grammar");
  in.fail_here(fmt::format("\"{}\" means nothing here", word), base::suggest_fix(word, names));
}

Opcode parse_mnemonic(Cursor& in) {
  const std::string_view word = in.word("an instruction");
  if (const auto op = opcode_from(word)) return *op;
  std::vector<std::string> names;
  for (std::size_t op = 0; op < kOpcodeCount; ++op) names.emplace_back(name_of(static_cast<Opcode>(op)));
  in.fail(fmt::format("\"{}\" is not an instruction", word), base::suggest_fix(word, names));
}

/// Up to the label or the end of the line.
Instr parse_body(Cursor& in) {
  Instr instr;
  instr.engine = named<Engine, kEngineCount>(in, "an engine", engine_from);
  instr.op = parse_mnemonic(in);
  int steps = 0;
  while (!in.at_end_of_line() && in.peek() != ';') {
    if (in.accept("<-")) {
      parse_tiles(in, {&instr.a, &instr.b, &instr.c});
      continue;
    }
    const std::string_view word = in.peek_word();
    if (is_memory(word))
      parse_tiles(in, {&instr.dst, &instr.dst2});
    else if (!parse_flag(in, instr) && !parse_number(in, instr, word) && !parse_function(in, instr, word, steps))
      fail_word(in, word);
  }
  return instr;
}

/// "key=" in front of a field.
void expect_key(Cursor& in, std::string_view key) {
  in.expect(key);
  in.expect("=");
}

void parse_block_line(Cursor& in, Block& block, std::unordered_map<std::string, std::uint32_t>& index) {
  if (in.accept("label")) {
    block.labels.push_back(in.string("a label"));
    index.try_emplace(block.labels.back(), static_cast<std::uint32_t>(block.labels.size() - 1));
    return;
  }
  Instr instr = parse_body(in);
  if (in.accept(";")) {
    const std::string label{in.plain_label()};
    const auto [place, added] = index.try_emplace(label, static_cast<std::uint32_t>(block.labels.size()));
    if (added) block.labels.push_back(label);
    instr.label = place->second;
  }
  block.instrs.own().push_back(instr);
}

/// After the word "block".
Block parse_block_rest(Cursor& in) {
  Block block;
  block.name = in.string("the block's name");
  expect_key(in, "registers");
  block.registers = in.integer<std::uint32_t>("the number of registers");
  expect_key(in, "sbuf_bytes");
  block.sbuf_bytes = in.integer<std::int64_t>("bytes");
  expect_key(in, "psum_bytes");
  block.psum_bytes = in.integer<std::int64_t>("bytes");
  expect_key(in, "matmul_flops");
  block.matmul_flops = in.double_number();
  in.end_line();
  std::unordered_map<std::string, std::uint32_t> index;
  while (in.next_line()) {
    if (in.accept("end")) return block;
    parse_block_line(in, block, index);
    in.end_line();
  }
  in.fail_here("the block does not end", "write a line with \"end\" after its last instruction");
}

template <typename T>
std::vector<T> parse_list(Cursor& in, std::string_view what) {
  in.expect("[");
  std::vector<T> items;
  while (!in.accept("]")) items.push_back(in.integer<T>(what));
  return items;
}

Region parse_region(Cursor& in) {
  Region region;
  region.name = in.string("the region's name");
  region.kind = in.string("the region's kind");
  region.dtype = parse_dtype(in);
  region.shape = parse_list<std::int64_t>(in, "a size");
  expect_key(in, "offset");
  region.offset = in.integer<std::uint64_t>("an offset");
  expect_key(in, "bytes");
  region.bytes = in.integer<std::uint64_t>("bytes");
  return region;
}

Call parse_call(Cursor& in) {
  Call call;
  call.block = in.integer<std::uint32_t>("a block's index");
  call.bases = parse_list<std::uint64_t>(in, "an address");
  expect_key(in, "rng");
  call.rng = in.integer<std::uint32_t>("a random stream");
  expect_key(in, "layer");
  call.layer = in.integer<std::int32_t>("a layer");
  expect_key(in, "phase");
  call.phase = named<Phase, 5>(in, "a phase", phase_from);
  expect_key(in, "await");
  const auto await = parse_list<std::uint32_t>(in, "a count");
  if (await.size() != call.await.size())
    in.fail(fmt::format("await has {} counts", await.size()), fmt::format("write {}, one a queue", call.await.size()));
  std::ranges::copy(await, call.await.begin());
  return call;
}

void parse_program_line(Cursor& in, Program& program) {
  if (in.accept("block")) {
    program.blocks.push_back(parse_block_rest(in));
  } else if (in.accept("call")) {
    program.calls.push_back(parse_call(in));
  } else if (in.accept("region")) {
    program.regions.push_back(parse_region(in));
  } else if (in.accept("runs_on")) {
    expect_key(in, "first");
    program.first_rank = in.integer<std::uint32_t>("a rank");
    expect_key(in, "ranks");
    program.own_ranks = in.integer<std::uint32_t>("the number of ranks that run it");
  } else if (in.accept("group")) {
    auto& group = program.groups.emplace_back();
    while (!in.at_end_of_line()) group.push_back(parse_list<std::uint32_t>(in, "a rank"));
  } else {
    in.fail_here("neither group, region, block nor call", "see docs/asm.md for the grammar");
  }
  in.end_line();
}

}  // namespace

Instr parse_instr(std::string_view text, std::string_view source) {
  Cursor in{text, source};
  in.next_line();
  const Instr instr = parse_body(in);
  in.end_line();
  if (in.next_line()) in.fail_here("a second line", "pass one instruction, or a block");
  return instr;
}

Block parse_block(std::string_view text, std::string_view source) {
  Cursor in{text, source};
  in.next_line();
  in.expect("block");
  Block block = parse_block_rest(in);
  if (in.next_line()) in.fail_here("something follows the block", "remove it, or pass a program");
  return block;
}

Program parse_program(std::string_view text, std::string_view source) {
  Cursor in{text, source};
  in.next_line();
  Program program;
  in.expect("program");
  program.name = in.string("the program's name");
  expect_key(in, "ranks");
  program.ranks = in.integer<std::uint32_t>("the number of ranks");
  expect_key(in, "hbm_bytes");
  program.hbm_bytes = in.integer<std::uint64_t>("bytes");
  expect_key(in, "rounding");
  program.rounding = named<Rounding, 2>(in, "a rounding", rounding_from);
  expect_key(in, "model_flops");
  program.model_flops = in.double_number();
  in.end_line();
  while (in.next_line()) parse_program_line(in, program);
  return program;
}

}  // namespace isa
