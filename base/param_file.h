// The one reader of TOML files. Every number in them has a value, a unit and a source:
//   tensor.clock = { value = "2.8 GHz", source = "NKI arch guide v2" }
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace base {

/// A value and its source.
template <typename T>
struct Sourced {
  T value{};
  std::string source;
};

/// One key after inheritance and overrides.
struct Parameter {
  std::string key;                  // "hbm.bandwidth"
  std::vector<std::string> values;  // as written: one, or the items of a list
  bool list = false;
  std::string source;                  // may be empty for text, never for a number that is read
  std::string text;                    // optional explanation
  std::vector<std::string> fitted_on;  // measurements that a fitted constant was fitted on; empty: not fitted
  std::vector<std::string> read_off;   // measurements that state it directly, without a prediction of ours
  std::string where;                   // "trn1.2xlarge.toml:12", or "`set`"
  bool read = false;
};

/// A file of parameters. Load it, apply the user's overrides, read each key with the dimension you expect, then call
/// reject_unread(): a key that is never read is a mistake, not a comment. All errors are Fault::kUsage with file:line.
///
/// A key is a dotted path. Its entry is `{ value = ..., source = "...", text = "...", fitted_on = [...], read_off =
/// [...] }` (source required, the last three optional) or, for other values, plain text, a flag or a list of
/// texts. A root key `inherits = "other.toml"` starts from that file (relative to this one, or else of trnsim's data)
/// and replaces its keys one by one; a value such as "2x" then multiplies the inherited one. Arrays of tables get their
/// index as a part of the path: "layer.0.name".
class ParamFile {
 public:
  /// Errors: Fault::kUsage when the file is missing, is not TOML, or an entry breaks the form above.
  static ParamFile load(const std::filesystem::path& path);
  /// The same from text; `name` stands for the path in errors, `folder` is where `inherits` looks.
  static ParamFile parse(std::string_view toml, std::string_view name, const std::filesystem::path& folder = {});

  /// Overrides one key. A number keeps its dimension; "2x" multiplies the present value. Errors: an unknown key (with a
  /// suggestion), another dimension. `where` names the origin in errors; the source says what was set.
  void set(std::string_view key, std::string_view value, std::string_view where = "`set`");
  /// As above, from text: "hbm.bandwidth=1.6TB/s".
  void set(std::string_view assignment);

  /// Explains a key: the reader of the key knows what it means. A text of the file's own follows. Errors: missing key.
  void explain(std::string_view key, std::string_view text);

  /// A number in the base unit. Errors: missing key (with a suggestion), missing or other unit, missing source.
  Sourced<double> read(std::string_view key, Dimension dimension);
  /// A whole number >= 0.
  Sourced<std::int64_t> read_count(std::string_view key);
  /// A list of numbers of one dimension, under one source.
  Sourced<std::vector<double>> read_list(std::string_view key, Dimension dimension);
  Sourced<std::string> read_string(std::string_view key);
  Sourced<std::vector<std::string>> read_strings(std::string_view key);
  Sourced<bool> read_flag(std::string_view key);

  /// Whether an optional key is there. Counts as asking, not as reading.
  bool has(std::string_view key);
  /// Every key (those below `prefix` only, when given: "cost" finds "cost.launch"), in alphabetical order.
  std::vector<std::string> keys(std::string_view prefix = {}) const;
  /// The entry of a key, not counted as read. Errors: missing key.
  const Parameter& parameter(std::string_view key) const;
  /// Declares that the keys below `prefix` belong to another reader.
  void ignore(std::string_view prefix);
  /// Errors: the first key that was never read, with the nearest requested name.
  void reject_unread() const;

  /// Everything as resolved, as a file that load() reads back to the same values, sources and fits.
  std::string to_toml() const;
  /// The hash of keys and values, not of sources and texts: two machines with the same hash behave the same.
  std::uint64_t hash() const;
  const std::string& name() const { return name_; }

 private:
  Parameter& find(std::string_view key);
  Parameter& find_number(std::string_view key);
  Parameter& find_single(std::string_view key, std::string_view kind);

  std::string name_;
  std::map<std::string, Parameter, std::less<>> parameters_;
  std::set<std::string, std::less<>> asked_;  // names that readers requested: candidates for a misspelt key
};

}  // namespace base
