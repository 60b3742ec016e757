#include "planner/measured/csv_rows.h"

#include <utility>

namespace longhaul::measured {
namespace {

class CellReader {
 public:
  CellReader(char delimiter, Blanks blanks) : delimiter_(delimiter), blanks_(blanks) {}

  void take(char c) {
    switch (state_) {
      case State::kBegin:
        if (c == ' ' && blanks_ == Blanks::kSkipped) return;
        if (c == '"')
          state_ = State::kQuoted;
        else
          take_plain(c);
        return;
      case State::kPlain:
        return take_plain(c);
      case State::kQuoted:
        if (c == '"')
          state_ = State::kQuoteInQuotes;
        else
          cell_ += c;
        return;
      case State::kQuoteInQuotes:
        if (c != '"') return take_plain(c);
        cell_ += c;
        state_ = State::kQuoted;
    }
  }

  // Whether the row ends with the line.
  bool end_line() const { return state_ != State::kQuoted; }

  std::vector<std::string> end_row() {
    end_cell();
    return std::exchange(row_, {});
  }

 private:
  enum class State { kBegin, kPlain, kQuoted, kQuoteInQuotes };

  void take_plain(char c) {
    if (c == delimiter_) return end_cell();
    cell_ += c;
    state_ = State::kPlain;
  }

  void end_cell() {
    row_.push_back(std::exchange(cell_, {}));
    state_ = State::kBegin;
  }

  const char delimiter_;
  const Blanks blanks_;
  State state_ = State::kBegin;
  std::string cell_;
  std::vector<std::string> row_;
};

}  // namespace

std::vector<std::vector<std::string>> csv_rows(const std::vector<std::string_view>& lines, char delimiter,
                                               Blanks blanks) {
  std::vector<std::vector<std::string>> rows;
  CellReader reader(delimiter, blanks);
  bool is_open = false;
  for (const std::string_view line : lines) {
    if (line.empty() && !is_open) {
      rows.emplace_back();
      continue;
    }
    for (const char c : line) reader.take(c);
    is_open = !reader.end_line();
    if (!is_open) rows.push_back(reader.end_row());
  }
  if (is_open) rows.push_back(reader.end_row());
  return rows;
}

}  // namespace longhaul::measured
