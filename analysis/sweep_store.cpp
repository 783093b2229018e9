#include "analysis/sweep_store.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"

namespace analysis {
namespace {

constexpr int kSchema = 1;

/// The database with its tables, made when it is new.
Database opened(const std::filesystem::path& path) {
  Database db{path, Database::Mode::kUpdate};
  db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  Statement version = db.prepare("PRAGMA user_version");
  version.step();
  const auto schema = static_cast<int>(version.whole(0));
  version.step();
  if (schema > kSchema) {
    throw base::Error{base::Fault::kData, path.string(),
                      fmt::format("has schema {}, this trnsim reads {}", schema, kSchema),
                      "use a newer trnsim, or another --output_dir"};
  }
  db.execute(
      fmt::format("BEGIN IMMEDIATE;"
                  "CREATE TABLE IF NOT EXISTS points(hash TEXT PRIMARY KEY, settings TEXT, error TEXT);"
                  "CREATE TABLE IF NOT EXISTS metrics(hash TEXT, name TEXT, value REAL, PRIMARY KEY(hash, name));"
                  "PRAGMA user_version = {}; COMMIT",
                  kSchema));
  return db;
}

std::string settings_text(const SweepPoint& point) {
  std::string text;
  for (const auto& [key, value] : point) text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  return text;
}

}  // namespace

SweepStore::SweepStore(const std::filesystem::path& path)
    : database_{opened(path)},
      find_point_{database_.prepare("SELECT error FROM points WHERE hash = ?")},
      find_metrics_{database_.prepare("SELECT name, value FROM metrics WHERE hash = ?")},
      put_point_{database_.prepare("INSERT OR REPLACE INTO points VALUES(?, ?, ?)")},
      drop_metrics_{database_.prepare("DELETE FROM metrics WHERE hash = ?")},
      put_metric_{database_.prepare("INSERT INTO metrics VALUES(?, ?, ?)")} {}

bool SweepStore::find(SweepResult& result) {
  const std::string hash = base::hash_text(result.hash);
  find_point_.query(hash);
  if (!find_point_.step()) return false;
  result.error = find_point_.text(0);
  while (find_point_.step()) {
  }
  find_metrics_.query(hash);
  while (find_metrics_.step()) result.metrics[find_metrics_.text(0)] = find_metrics_.real(1);
  result.done = true;
  return true;
}

void SweepStore::put(const SweepResult& result) {
  const std::string hash = base::hash_text(result.hash);
  database_.execute("BEGIN IMMEDIATE");
  put_point_.run(hash, settings_text(result.point), result.error);
  drop_metrics_.run(hash);
  for (const auto& [name, value] : result.metrics) put_metric_.run(hash, name, value);
  database_.execute("COMMIT");
}

}  // namespace analysis
