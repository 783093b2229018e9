// Collectives between the HBMs of a replica group.
#include <fmt/format.h>

#include <cstring>

#include "base/text.h"
#include "isa/exec/operand.h"
#include "isa/exec/ops.h"
#include "isa/exec/random.h"
#include "isa/names.h"

namespace isa {
namespace exec {
namespace {

/// The operands of every rank, in flat order.
struct Group {
  const Instr& instr;  // of the first rank: the same operation for all
  std::vector<Context*> contexts;
  std::vector<View> a, dst;
  Rounder how;  // the same bits for all ranks

  std::int64_t size() const { return static_cast<std::int64_t>(contexts.size()); }
  const View& in(std::int64_t rank) const { return a[static_cast<std::size_t>(rank)]; }
  const View& out(std::int64_t rank) const { return dst[static_cast<std::size_t>(rank)]; }
};

Group gather_views(std::span<const Participant> participants) {
  const Instr& instr = *participants.front().instr;
  Group group{instr, {}, {}, {}, {}};
  for (const auto& [own, context] : participants) {
    need(instr, own->op == instr.op && own->alu0 == instr.alu0 && own->imm0 == instr.imm0,
         fmt::format("rank {} runs another operation at this point: {}", context->rank, name_of(own->op)),
         "make all ranks of a group run the same operation");
    group.contexts.push_back(context);
    group.a.push_back(flattened(view(*own, own->a, "a", *context)));
    group.dst.push_back(flattened(view(*own, own->dst, "dst", *context)));
    need(instr, group.a.back().dtype == group.dst[0].dtype && group.dst.back().dtype == group.dst[0].dtype,
         "dst and a differ in type", "make them agree");
    need(instr, group.a.back().cols == group.a[0].cols && group.dst.back().cols == group.dst[0].cols,
         fmt::format("rank {} has another number of elements", context->rank), "make them agree");
  }
  Context shared = *group.contexts[0];
  shared.rank = ~0u;
  const auto place = static_cast<std::uint32_t>(instr.dst.offset) + 0x9e3779b9u * instr.dst.reg;
  group.how = {shared.rounding, random_stream(Purpose::kCollective, place, shared)};
  return group;
}

void need_elements(const Group& group, std::int64_t a, std::int64_t dst) {
  if (group.in(0).cols == a && group.out(0).cols == dst) return;
  refuse(group.instr,
         fmt::format("a has {} and dst {} elements, but {} ranks need {} and {}", group.in(0).cols, group.out(0).cols,
                     group.size(), a, dst),
         "make them agree");
}

/// body(first, n) for every block of `count` elements, on the team of the first rank.
template <class Body>
void for_all(const Group& group, std::int64_t count, const Body& body) {
  for_blocks(*group.contexts[0], 1, count, [&](std::int64_t, std::int64_t first, std::int64_t n) { body(first, n); });
}

/// The reduction of elements [first, first + n) over the ranks, in their order.
void reduce_block(const Group& group, std::int64_t first, std::int64_t n, float* sum) {
  alignas(64) float scratch[kBlock];
  std::copy_n(read(group.in(0), 0, first, n, scratch), n, sum);
  for (std::int64_t r = 1; r < group.size(); ++r)
    combine(group.instr, {group.instr.alu0, false}, sum, {read(group.in(r), 0, first, n, scratch), 0}, sum, n);
}

void all_reduce(const Group& group) {
  const std::int64_t count = group.in(0).cols;
  need_elements(group, count, count);
  for_all(group, count, [&](std::int64_t first, std::int64_t n) {
    alignas(64) float sum[kBlock];
    reduce_block(group, first, n, sum);
    write(group.out(0), 0, first, n, sum, group.how);
    for (std::int64_t r = 1; r < group.size(); ++r) copy_bits(group.out(r), first, group.out(0), first, n);
  });
}

void reduce_scatter(const Group& group) {
  const std::int64_t part = group.out(0).cols;
  need_elements(group, part * group.size(), part);
  for (std::int64_t r = 0; r < group.size(); ++r) {
    Rounder how = group.how;
    how.stream.nonce[1] ^= static_cast<std::uint32_t>(r);
    for_all(group, part, [&](std::int64_t first, std::int64_t n) {
      alignas(64) float sum[kBlock];
      reduce_block(group, r * part + first, n, sum);
      write(group.out(r), 0, first, n, sum, how);
    });
  }
}

/// Rank `from`'s elements from `first` on become rank `to`'s elements from `at` on.
void transfer(const Group& group, std::int64_t from, std::int64_t first, std::int64_t to, std::int64_t at,
              std::int64_t count) {
  for_all(group, count,
          [&](std::int64_t i, std::int64_t n) { copy_bits(group.out(to), at + i, group.in(from), first + i, n); });
}

void all_gather(const Group& group) {
  const std::int64_t part = group.in(0).cols;
  need_elements(group, part, part * group.size());
  for (std::int64_t from = 0; from < group.size(); ++from)
    for (std::int64_t to = 0; to < group.size(); ++to) transfer(group, from, 0, to, from * part, part);
}

void all_to_all(const Group& group) {
  const std::int64_t count = group.in(0).cols, part = count / group.size();
  need_elements(group, part * group.size(), count);
  need(group.instr, group.in(0).base != group.out(0).base, "dst is a", "give dst memory of its own");
  for (std::int64_t from = 0; from < group.size(); ++from)
    for (std::int64_t to = 0; to < group.size(); ++to) transfer(group, from, to * part, to, from * part, part);
}

void broadcast(const Group& group) {
  const std::int64_t count = group.in(0).cols;
  need_elements(group, count, count);
  const auto root = static_cast<std::int64_t>(group.instr.imm0);
  need(group.instr, root >= 0 && root < group.size(), "imm0 is not a rank of the group", "name one");
  // The root last: its dst may be its a.
  for (std::int64_t i = 1; i <= group.size(); ++i) transfer(group, root, 0, (root + i) % group.size(), 0, count);
}

/// The member of a pair that is not `peer`, and that peer.
std::array<Context*, 2> pair(const Instr& instr, std::span<Context*> contexts) {
  need(instr, contexts.size() == 2 && instr.peer < 2,
       fmt::format("its group has {} and its peer is {}", base::counted(contexts.size(), "rank"), instr.peer),
       "use a replica group of pairs");
  return {contexts[1u - instr.peer], contexts[instr.peer]};
}

/// Bytes in a row, seen as elements of `like`.
View message_view(const View& like, std::vector<std::byte>& message) {
  View out = like;
  out.base = message.data();
  out.rank = 1;
  out.axes[0] = {like.size, like.cols};
  return out;
}

void copy_all(const View& to, const View& from) {
  for (std::int64_t first = 0; first < from.cols; first += kBlock)
    copy_bits(to, first, from, first, std::min(kBlock, from.cols - first));
}

}  // namespace

void collective(const Instr& instr, std::uint32_t, Context&) {
  throw base::Error{base::Fault::kInternal, name_of(instr.op), "one rank cannot run a collective",
                    "call execute_collective with the contexts of its group"};
}

}  // namespace exec

void execute_collective(std::span<const Participant> group) {
  base::ensure(!group.empty(), "collective", "without ranks");
  const Instr& instr = *group.front().instr;
  switch (instr.op) {
    case Opcode::kBarrier: return;  // the caller has brought all ranks here
    case Opcode::kAllReduce: return exec::all_reduce(exec::gather_views(group));
    case Opcode::kReduceScatter: return exec::reduce_scatter(exec::gather_views(group));
    case Opcode::kAllGather: return exec::all_gather(exec::gather_views(group));
    case Opcode::kAllToAll: return exec::all_to_all(exec::gather_views(group));
    case Opcode::kBroadcast: return exec::broadcast(exec::gather_views(group));
    default: throw base::Error{base::Fault::kInternal, name_of(instr.op), "it is not a collective", "call execute"};
  }
}

void execute_collective(const Instr& instr, std::span<Context*> contexts) {
  if (between_two(instr.op)) {
    const auto [one, peer] = exec::pair(instr, contexts);
    return instr.op == Opcode::kSend ? execute_send(instr, *one, peer->memory)
                                     : execute_receive(instr, peer->rank, *one);
  }
  std::vector<Participant> group;
  for (Context* context : contexts) group.push_back({&instr, context});
  execute_collective(group);
}

void execute_send(const Instr& instr, Context& sender, Memory& receiver) {
  const exec::View a = exec::flattened(exec::view(instr, instr.a, "a", sender));
  std::vector<std::byte> message(static_cast<std::size_t>(a.cols * a.size));
  exec::copy_all(exec::message_view(a, message), a);
  receiver.inbox(sender.rank, instr.group).push_back(std::move(message));
}

void execute_receive(const Instr& instr, std::uint32_t sender, Context& receiver) {
  const exec::View dst = exec::flattened(exec::view(instr, instr.dst, "dst", receiver));
  auto& inbox = receiver.memory.inbox(sender, instr.group);
  exec::need(instr, !inbox.empty(), "its peer has sent nothing", "send before it");
  std::vector<std::byte> message = std::move(inbox.front());
  inbox.pop_front();
  exec::need(instr, message.size() == static_cast<std::size_t>(dst.cols * dst.size),
             fmt::format("dst has {} bytes, the message {}", dst.cols * dst.size, message.size()), "make them agree");
  exec::copy_all(dst, exec::message_view(dst, message));
}

}  // namespace isa
