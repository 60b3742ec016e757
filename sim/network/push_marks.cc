#include "sim/network/push_marks.h"

namespace longhaul {

void PushMarks::sent(std::int64_t begin, std::int64_t end, double now_s) {
  const bool is_together = now_s == sent_s_ && begin == end_;
  if (!is_together && !is_alone_) marks_.push_back(end_);
  is_alone_ = !is_together;
  end_ = end;
  sent_s_ = now_s;
}

bool PushMarks::take(std::int64_t end) {
  bool is_marked = !is_alone_ && end == end_;
  while (!marks_.empty() && marks_.front() <= end) {
    is_marked = is_marked || marks_.front() == end;
    marks_.pop_front();
  }
  return is_marked;
}

}  // namespace longhaul
