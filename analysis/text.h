// Words and short texts for people, as tables, comparisons, figures and reports share them.
#pragma once

#include <string>
#include <vector>

#include "core/base/ranges.h"

namespace longhaul {

// Of a number that was computed: six significant digits, so that what the last bits of a double add is not
// shown ("351", not "351.00000000000006"). What a user wrote stays as format_number() has it.
std::string human_number(double value);

// "1 seed", "3 seeds".
std::string counted(std::size_t count, const std::string& what);
// The same of an amount that is in words already: "1 hour", "4.02 k hours".
std::string amount_of(const std::string& amount, const std::string& what);

// "At equal tokens" of "at equal tokens".
std::string capitalized(std::string text);

// "a; b; and 3 more".
std::string named_few(const std::vector<std::string>& names, std::size_t most);

// "connections" of "network.tcp.connections".
std::string last_key(const std::string& dotted);

// How many columns of a terminal a UTF-8 text takes: characters, not bytes; ours are of single width.
std::size_t width_of(const std::string& text);

// A column of a table for a terminal.
struct TextColumn {
  std::string heading;
  std::vector<std::string> cells;
  bool left = false;   // words; numbers stand at the right
  int importance = 0;  // 0: always shown
  std::string meaning = {};
};

// Their heading and cells in aligned rows.
std::string aligned_columns(const std::vector<TextColumn>& columns, const std::string& indent = "");

// Lines of aligned cells, two blanks apart; `marks` of the columns as in markdown_rule.
std::string aligned_rows(const std::vector<std::vector<std::string>>& rows, const std::string& marks,
                         const std::string& indent = "");

// In lines of at most `width` columns, broken at spaces; `first` begins the first line and `next` each other.
std::string wrapped(const std::string& text, std::size_t width, const std::string& first,
                    const std::string& next);

// A text of users in Markdown, also in a cell of a table: on one line, without bars and tags of its own.
std::string markdown_text(const std::string& text);

// Markdown of ours for a terminal, without its marks and escapes: tables with aligned columns, the rest in
// lines of at most `width` columns.
std::string terminal_text(const std::string& markdown, std::size_t width);

// A line of a table in Markdown, and the one below its heading: a mark a column, 'l' or 'r' (numbers).
std::string markdown_row(const std::vector<std::string>& cells);
std::string markdown_rule(const std::string& marks);

}  // namespace longhaul
