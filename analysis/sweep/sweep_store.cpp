#include "analysis/sweep/sweep_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/hash.h"

namespace analysis {
namespace {

constexpr int kSchema = 1;

std::string first_value(Database& db, std::string_view sql) {
  Statement statement = db.prepare(sql);
  std::string value;
  while (statement.step()) value = statement.text(0);
  return value;
}

/// A write-ahead log spares a process the wait for the disk, but its users must share memory: it ends at the host. A
/// file that has one gives it up when no other process has it open, so that processes of a team may have to take turns.
Database without_log(const std::filesystem::path& path) {
  constexpr int kTries = 600;
  constexpr std::chrono::milliseconds kPause{100};
  for (int i = 0;; ++i) {
    try {
      Database db{path, Database::Mode::kUpdate};
      if (first_value(db, "PRAGMA journal_mode") == "wal") db.execute("PRAGMA busy_timeout = 0");
      db.execute("PRAGMA journal_mode = TRUNCATE; PRAGMA busy_timeout = 60000");
      return db;
    } catch (const base::Error&) {
      if (i == kTries) throw;
    }
    std::this_thread::sleep_for(kPause * (1 + ::getpid() % 7) / 4);
  }
}

/// The database with its tables, made when it is new.
Database opened(const std::filesystem::path& path, bool many_hosts) {
  Database db = many_hosts ? without_log(path) : Database{path, Database::Mode::kUpdate};
  const int schema = std::stoi(first_value(db, "PRAGMA user_version"));
  if (schema == 0 && !many_hosts) db.execute("PRAGMA journal_mode = WAL");
  db.execute("PRAGMA synchronous = NORMAL");
  if (schema > kSchema) {
    throw base::Error{base::Fault::kData, path.string(),
                      fmt::format("has schema {}, this trnsim reads {}", schema, kSchema),
                      "use a newer trnsim, or another `output_dir`"};
  }
  db.execute(
      fmt::format("BEGIN IMMEDIATE;"
                  "CREATE TABLE IF NOT EXISTS points(hash TEXT PRIMARY KEY, settings TEXT, error TEXT);"
                  "CREATE TABLE IF NOT EXISTS metrics(hash TEXT, name TEXT, value REAL, PRIMARY KEY(hash, name));"
                  "CREATE TABLE IF NOT EXISTS claims(hash TEXT PRIMARY KEY, job TEXT, owner TEXT, beats INTEGER,"
                  "died INTEGER);"
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

SweepStore::SweepStore(const std::filesystem::path& path, std::string job, std::string owner, bool many_hosts)
    : job_{std::move(job)},
      owner_{std::move(owner)},
      database_{opened(path, many_hosts)},
      find_point_{database_.prepare("SELECT error FROM points WHERE hash = ?")},
      find_metrics_{database_.prepare("SELECT name, value FROM metrics WHERE hash = ?")},
      put_point_{database_.prepare("INSERT OR REPLACE INTO points VALUES(?, ?, ?)")},
      drop_metrics_{database_.prepare("DELETE FROM metrics WHERE hash = ?")},
      put_metric_{database_.prepare("INSERT INTO metrics VALUES(?, ?, ?)")},
      find_claim_{database_.prepare("SELECT job, owner, beats, died FROM claims WHERE hash = ?")},
      claim_{database_.prepare("INSERT INTO claims SELECT ?1, ?2, ?3, 0, 0 WHERE NOT EXISTS"
                               "(SELECT 1 FROM points WHERE hash = ?1) ON CONFLICT(hash) DO UPDATE SET job = ?2, "
                               "owner = ?3, beats = 0, died = 0 WHERE owner = ?4 AND beats = ?5")},
      beat_{database_.prepare("UPDATE claims SET beats = beats + 1 WHERE owner = ? AND died = 0")},
      mark_failed_{database_.prepare("UPDATE claims SET died = 1 WHERE hash = ? AND owner = ?")},
      drop_claim_{database_.prepare("DELETE FROM claims WHERE hash = ? AND owner = ?")} {}

SweepStore::~SweepStore() {
  try {
    database_.prepare("DELETE FROM claims WHERE owner = ? AND died = 0").run(owner_);
  } catch (const base::Error&) {  // others see that we are gone, only later
  }
}

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

std::optional<Claim> SweepStore::claim_of(std::uint64_t hash) {
  find_claim_.query(base::hash_text(hash));
  std::optional<Claim> claim;
  while (find_claim_.step())
    claim = {find_claim_.text(0), find_claim_.text(1), find_claim_.whole(2), find_claim_.whole(3) != 0};
  return claim;
}

bool SweepStore::claim(std::uint64_t hash, const std::optional<Claim>& from) {
  const Claim seen = from.value_or(Claim{});  // no owner is called ""
  claim_.run(base::hash_text(hash), job_, owner_, seen.owner, seen.beats);
  return database_.changes() == 1;
}

void SweepStore::beat() { beat_.run(owner_); }

void SweepStore::mark_failed(std::uint64_t hash) { mark_failed_.run(base::hash_text(hash), owner_); }

void SweepStore::put(const SweepResult& result) {
  const std::string hash = base::hash_text(result.hash);
  database_.execute("BEGIN IMMEDIATE");
  put_point_.run(hash, settings_text(result.point), result.error);
  drop_metrics_.run(hash);
  for (const auto& [name, value] : result.metrics) put_metric_.run(hash, name, value);
  drop_claim_.run(hash, owner_);
  database_.execute("COMMIT");
}

}  // namespace analysis
