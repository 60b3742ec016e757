// What a user sees while a run goes on.
#pragma once

#include <chrono>
#include <string>

namespace longhaul {

// Columns of the terminal that `descriptor` is; 80 where it is none.
int terminal_columns(int descriptor);

// The beginning of a UTF-8 text that takes at most so many columns, a column a character.
std::string cut_to_columns(const std::string& text, int columns);

// One live line with ETA on a terminal, a plain line now and then otherwise, nothing with --quiet. All of it
// on stderr, and without colours, so that NO_COLOR has nothing to switch off.
class LiveDisplay {
 public:
  explicit LiveDisplay(bool quiet);
  ~LiveDisplay();

  // `fraction` of all the work of this phase, and what is being done now. Cheap to call often.
  void update(const std::string& phase, double fraction, const std::string& now);
  void line(const std::string& text);  // a lasting line
  void start_phase();                  // the ETA starts anew

 private:
  void erase();

  bool quiet_, terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point phase_start_, last_;
};

}  // namespace longhaul
