#include "runtime/compiler/program_cache.h"

#include <zstd.h>

#include <utility>

#include "base/archive.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/log.h"
#include "runtime/graph/op.h"

// The parts of a program.

namespace isa {

void each_field(auto& archive, base::Is<Instr> auto& x) {
  auto& [op, engine, fn, alu0, alu1, accumulate, reverse0, reverse1, negate, skip, integers, onezero, bitwise,
         registers, signal, queue, group, wait_count, peer, alike, label, rng, pe, imm0, imm1, imm2, imm3, ints, steps,
         dst, dst2, a, b, c, waits] = x;
  archive(op, engine, fn, alu0, alu1, accumulate, reverse0, reverse1, negate, skip, integers, onezero, bitwise,
          registers, signal, queue, group, wait_count, peer, alike, label, rng, pe, imm0, imm1, imm2, imm3, ints, steps,
          dst, dst2, a, b, c, waits);
}
void each_field(base::ArchiveWriter& archive, const Block& x) {
  const auto& [name, instrs, registers, labels, sbuf, psum, flops] = x;
  archive(name, instrs, registers, labels, sbuf, psum, flops);
}
void each_field(base::ArchiveReader& archive, Block& x) {
  auto& [name, instrs, registers, labels, sbuf, psum, flops] = x;
  archive(name, instrs.own(), registers, labels, sbuf, psum, flops);
}

}  // namespace isa

namespace runtime {

void each_field(auto& archive, base::Is<Compiled> auto& x) {
  auto& [program, memory, notes, largest_module, given_up] = x;  // aborted compilations are not kept
  archive(program, memory, notes, largest_module);
}

// Everything that decides it.

void each_field(base::ArchiveWriter& archive, const Node& x) {
  const auto& [op, attrs, in, out, scope, label] = x;
  archive(std::string_view{op ? op->name : ""}, attrs, in, out, scope, label);
}
void each_field(base::ArchiveWriter& archive, const Graph& x) {
  archive(x.numerics(), x.replica_groups(), x.scopes(), x.node_count(), x.value_count());
  for (NodeId n = 0; n < x.node_count(); ++n) archive(x.node(n));
  for (ValueId v = 0; v < x.value_count(); ++v) archive(x.value(v));
}
void each_field(base::ArchiveWriter& archive, const CompileOptions& x) {
  // Blocks from elsewhere are those that would be built; compilations that may be aborted are not kept.
  const auto& [name, ranks, first_rank, own_ranks, long_group, in_order, passes, hbm_bytes, give_up, blocks, shared,
               cache] = x;
  static_cast<void>(give_up), static_cast<void>(blocks), static_cast<void>(cache);
  archive(name, ranks, first_rank, own_ranks, long_group, in_order, passes, hbm_bytes, shared != nullptr);
  if (shared) archive(*shared);
}

namespace {

using base::Error;
using base::Fault;
namespace fs = std::filesystem;

constexpr std::string_view kMagic = "trnsim program 3";
constexpr int kLevel = 1;  // programs repeat themselves: higher levels cost time and save little

}  // namespace

ProgramCache::ProgramCache(fs::path folder) : folder_{std::move(folder)} {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    throw Error{Fault::kEnvironment, folder_.string(), error.message(), "choose a folder that you may write to"};
}

std::uint64_t program_key(const Graph& graph, const isa::Target& target, const CompileOptions& options) {
  base::ArchiveWriter writer;
  writer(graph, isa::text_of(target), options, base::hash_of_own_code());
  return base::hash64(writer.take());
}

std::string write_compiled(const Compiled& compiled) {
  base::ArchiveWriter body;
  body(compiled);
  const std::string plain = body.take();
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), kLevel);
  base::ensure(ZSTD_isError(size) == 0, "write_compiled", "zstd cannot compress it");
  packed.resize(size);
  base::ArchiveWriter file;
  file(kMagic, static_cast<std::uint64_t>(plain.size()), base::hash64(packed), packed);
  return file.take();
}

Compiled read_compiled(std::string_view bytes, const std::string& where) {
  const Error damaged{Fault::kData, where, "is damaged, or not a compiled program", "delete it"};
  base::ArchiveReader file{bytes, damaged};
  std::string magic, packed;
  std::uint64_t size = 0, hash = 0;
  file(magic);
  if (magic != kMagic) throw damaged;
  file(size, hash, packed);
  if (base::hash64(packed) != hash) throw damaged;  // zstd takes some changes for none
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != size) throw damaged;
  std::string plain(size, '\0');
  if (ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size()) != size) throw damaged;
  Compiled compiled;
  base::ArchiveReader{plain, damaged}(compiled);
  return compiled;
}

Compiled ProgramCache::get(const Graph& graph, const isa::Target& target, const CompileOptions& options,
                           const std::function<Compiled()>& compile) {
  const fs::path path = folder_ / (base::hash_text(program_key(graph, target, options)) + ".program");
  std::error_code error;
  if (fs::exists(path, error)) try {
      Compiled compiled = read_compiled(base::read_file(path), path.string());
      ++found_;
      return compiled;
    } catch (const Error& damage) {
      base::log_warning("{}; compiled again", damage.reason());
    }
  Compiled compiled = compile();
  ++compiled_;
  try {  // it is only a cache
    base::write_file(path, write_compiled(compiled));
  } catch (const Error& full) {
    base::log_warning("{}; not kept", full.reason());
  }
  return compiled;
}

}  // namespace runtime
