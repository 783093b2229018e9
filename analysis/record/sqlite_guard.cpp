#include "analysis/record/sqlite_guard.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace analysis {
namespace {

/// Instructions of SQLite's virtual machine between two looks at the budget.
constexpr int kRound = 1000;
/// A row of a record takes some five instructions for each of its columns, and a column at least a byte of the file: 40
/// for each byte leave room for sorting.
constexpr std::int64_t kInstructionsPerByte = 40, kLeastInstructions = 1'000'000;
/// No value of ours is longer: a machine file is the longest.
constexpr int kLongestValue = 1 << 26;

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw base::Error{base::Fault::kData, file, what, "write the file again, or use one that trnsim wrote"};
}

/// `through`: the view or trigger, if there is one, that a statement reaches a table through.
int authorize(void*, int action, const char*, const char*, const char*, const char* through) {
  const bool program = action == SQLITE_RECURSIVE || action == SQLITE_ATTACH || action == SQLITE_CREATE_VTABLE;
  return through || program ? SQLITE_DENY : SQLITE_OK;
}

struct Finalize {
  void operator()(sqlite3_stmt* rows) const { sqlite3_finalize(rows); }
};
/// A statement ends with its scope, also where memory does: SQLite does not close a file with open ones.
using Rows = std::unique_ptr<sqlite3_stmt, Finalize>;

Rows prepared(sqlite3* connection, std::string_view sql, int& code) {
  sqlite3_stmt* rows = nullptr;
  code = sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &rows, nullptr);
  return Rows{rows};
}

struct Entry {
  std::string type, name, sql;
};

/// The rows of the file's schema.
std::vector<Entry> schema_of(sqlite3* connection, const std::string& file) {
  int code = SQLITE_OK;
  const Rows rows = prepared(connection, "SELECT type, name, sql FROM sqlite_master", code);
  std::vector<Entry> out;
  const auto text = [&](int column) {
    const auto* chars = sqlite3_column_text(rows.get(), column);
    return chars ? std::string{reinterpret_cast<const char*>(chars)} : std::string{};
  };
  while (code == SQLITE_OK && (code = sqlite3_step(rows.get())) == SQLITE_ROW) {
    out.push_back({text(0), text(1), text(2)});
    code = SQLITE_OK;
  }
  if (code == SQLITE_DONE) return out;
  const std::string why = sqlite3_errmsg(connection);
  if (code == SQLITE_NOMEM) throw std::bad_alloc{};
  const bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_PROTOCOL;
  if (busy) throw base::Error{base::Fault::kEnvironment, file, why, "end the other process that uses the file"};
  refuse(file, why);
}

/// Whether a column is computed when it is read.
bool computes(sqlite3* connection, const std::string& table) {
  int code = SQLITE_OK;
  const Rows rows = prepared(connection, "SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden <> 0", code);
  if (code == SQLITE_OK) code = sqlite3_bind_text(rows.get(), 1, table.c_str(), -1, SQLITE_STATIC);
  if (code == SQLITE_OK) code = sqlite3_step(rows.get());
  if (code == SQLITE_NOMEM) throw std::bad_alloc{};
  return code != SQLITE_DONE;
}

void require_plain(sqlite3* connection, const std::string& file, SqliteGuard::Use use) {
  const bool writes = use == SqliteGuard::Use::kUpdate;
  for (const Entry& entry : schema_of(connection, file)) {
    const std::string sql = base::lower(entry.sql);
    if (writes && entry.type == "trigger")
      refuse(file, fmt::format("has the trigger '{}', but trnsim writes none", entry.name));
    if (entry.type != "table" || entry.name.starts_with("sqlite_")) continue;
    if (!sql.starts_with("create table")) refuse(file, fmt::format("has '{}', which is not a plain table", entry.name));
    if (computes(connection, entry.name) || (writes && sql.find("check") != std::string::npos))
      refuse(file, fmt::format("has the table '{}', whose columns are computed", entry.name));
  }
}

}  // namespace

SqliteGuard::SqliteGuard(sqlite3* connection, const std::string& file, Use use) : budget_{std::make_unique<Budget>()} {
  sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  std::error_code unknown;
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file, unknown));
  budget_->left = (kLeastInstructions + (unknown ? 0 : kInstructionsPerByte * bytes)) / kRound;
  if (use == Use::kRead)
    sqlite3_progress_handler(
        connection, kRound, [](void* budget) { return --static_cast<Budget*>(budget)->left < 0 ? 1 : 0; },
        budget_.get());
  require_plain(connection, file, use);
  sqlite3_set_authorizer(connection, authorize, nullptr);
}

}  // namespace analysis
