// Programs that run beside each other, one thread a process.
#include <fmt/format.h>

#include <exception>
#include <thread>

#include "base/error.h"
#include "frontend/interpret/control.h"
#include "frontend/interpret/interpreter.h"

namespace trnsim::frontend {
namespace {

/// The work of one process.
struct Task {
  FunctionId function = kNoFunction;
  std::vector<Value> arguments;
  std::int64_t replica = 0, partition = 0;
  std::vector<Value> results = {};
  std::exception_ptr error = {};
};

constexpr std::size_t kMostProcesses = 256;

void run_tasks(const Module& module, World& world, std::vector<Task>& tasks) {
  std::vector<std::thread> threads;
  std::mutex order;
  std::exception_ptr first;
  for (Task& task : tasks)
    threads.emplace_back([&] {
      try {
        Interpreter interpreter{module, Process{world, task.replica, task.partition}};
        task.results = interpreter.run(task.function, task.arguments);
        world.leave(false);
      } catch (...) {
        {
          const std::lock_guard lock{order};
          if (!first) first = std::current_exception();
        }
        world.leave(true);
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

/// "[[@a, @b], [@c, @d]]": names by row.
std::vector<std::vector<std::string>> names_in(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' && ++depth == 2) rows.emplace_back();
    if (text[i] == ']') --depth;
    if (text[i] != '@') continue;
    const std::size_t end = text.find_first_of(",] \n\t", i);
    if (depth == 1) rows.emplace_back();
    if (!rows.empty()) rows.back().push_back(text.substr(i + 1, end - i - 1));
  }
  return rows;
}

}  // namespace

std::vector<std::vector<Value>> run_on_processes(const Module& module,
                                                 const std::vector<std::vector<Value>>& arguments) {
  World world{module.replicas, module.partitions};
  std::vector<Task> tasks;
  for (std::int64_t r = 0; r < module.replicas; ++r)
    for (std::int64_t p = 0; p < module.partitions; ++p)
      tasks.push_back({module.entry, arguments[tasks.size() % arguments.size()], r, p});
  run_tasks(module, world, tasks);
  std::vector<std::vector<Value>> out;
  for (Task& task : tasks) out.push_back(std::move(task.results));
  return out;
}

namespace evaluate {

/// The programs are a grid of replicas by partitions; each takes as many of the operands as it has parameters.
void run_parallel(Evaluation& e) {
  const auto rows = names_in(e.attributes().text("programs"));
  if (rows.empty() || rows.size() * rows.front().size() > kMostProcesses) e.fail("names no programs, or too many");
  World world{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.front().size())};
  std::vector<Task> tasks;
  std::size_t next = 0;
  const std::vector<Value> operands = e.all_operands();
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t p = 0; p < rows[r].size(); ++p) {
      const FunctionId id = e.module().find(rows[r][p]);
      if (id == kNoFunction) e.fail("names a program that does not exist: @" + rows[r][p]);
      const std::size_t count = e.module().functions[id].parameters;
      if (next + count > operands.size()) e.fail("has fewer operands than its programs have parameters");
      tasks.push_back({id,
                       {operands.begin() + static_cast<std::ptrdiff_t>(next),
                        operands.begin() + static_cast<std::ptrdiff_t>(next + count)},
                       static_cast<std::int64_t>(r),
                       static_cast<std::int64_t>(p)});
      next += count;
    }
  for (const auto& row : names_in(e.attributes().text("infeed")))
    for (const std::string& name : row) world.infeed.emplace_back([&e, name] { return e.call_named(name, {}); });
  run_tasks(e.module(), world, tasks);
  for (Task& task : tasks)
    for (Value& value : task.results) e.put(std::move(value));
}

}  // namespace evaluate
}  // namespace trnsim::frontend
