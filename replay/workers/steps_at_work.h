// How many replicas are at work, by the step that they are at.
#pragma once

#include <algorithm>
#include <map>

namespace longhaul {

class StepsAtWork {
 public:
  void enter(int step) { ++replicas_[step]; }
  void leave(int step) {
    const auto found = replicas_.find(step);
    if (--found->second == 0) replicas_.erase(found);
  }
  bool is_nobody() const { return replicas_.empty(); }
  // Below which nobody is; where nobody is at work, below which rows were closed last.
  int lowest() const { return is_nobody() ? closed_ : std::max(closed_, replicas_.begin()->first); }
  int closed() const { return closed_; }
  // As lowest(), where the rows below are closed now.
  int close() { return closed_ = is_nobody() ? closed_ : replicas_.begin()->first; }

 private:
  std::map<int, int> replicas_;
  int closed_ = 0;
};

}  // namespace longhaul
