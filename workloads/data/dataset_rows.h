// The rows of a data file before their labels are understood: one reader per format.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "workloads/data/dataset.h"

namespace workloads {

/// A row as read: either a text and a label as written, or the row's error.
struct RawRow {
  std::size_t line = 0;  // where it starts, from 1
  std::string text{};
  std::string label{};
  std::vector<std::string> words{}, word_labels{};  // instead of both
  std::string problem{};                            // empty: the row is fine so far
};

/// Takes a row; returns false to stop reading.
using RowSink = std::function<bool(RawRow&&)>;

struct RowSource {
  std::istream& in;
  std::string name;  // for errors
  const ReadOptions& options;
};

void read_csv_rows(const RowSource& source, const RowSink& sink);
void read_tsv_rows(const RowSource& source, const RowSink& sink);
void read_json_lines_rows(const RowSource& source, const RowSink& sink);
void read_semicolon_rows(const RowSource& source, const RowSink& sink);
/// -DOCSTART- lines are left out.
void read_conll_rows(const RowSource& source, const RowSink& sink);

/// Which fields of a delimited file are the text and the label.
struct Columns {
  std::size_t text = 0;
  std::size_t label = 1;
  std::size_t count = 2;
  bool header = false;   // the first row was names, not data
  bool unclear = false;  // the first row may be either: LaterRows decides
};

/// Reads the names if `first_row` is a header: it holds the requested names, or, without any, a usual name for the
/// text or for the label. Without one a file must have two fields, text and label, and its first row may hold any
/// names. Errors: Fault::kData when the requested columns are missing or the roles are not clear.
Columns find_columns(const std::vector<std::string>& first_row, const RowSource& source);

/// Passes rows on. Where the first one may be names or data, the ones behind it decide: labels recur, and a name is no
/// label. It is names if no other row has its label although labels of the others recur, or if it is the only label
/// that is no whole number.
class LaterRows {
 public:
  LaterRows(const RowSink& sink, bool unclear) : sink_{sink}, unclear_{unclear} {}
  /// False: no more rows are wanted.
  bool add(RawRow row);
  void end();

 private:
  bool first_is_names() const;
  bool pass();

  const RowSink& sink_;
  bool unclear_;
  std::vector<RawRow> held_;  // until it is clear
};

/// The usual names of the two columns, in order of preference.
const std::vector<std::string>& usual_text_columns();
const std::vector<std::string>& usual_label_columns();

/// The row in the fields of a line, or that it has another number of them.
RawRow row_of(std::vector<std::string> fields, const Columns& columns, std::size_t line);

}  // namespace workloads
