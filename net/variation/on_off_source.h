// A source that is on and off for exponential times (an alternating renewal process), from the seed.
//
// It begins in its steady state: on with the probability on / (on + off); what is left of an exponential time
// is exponential again. Each time is a draw of its own (seed, name, number), so that it does not matter when
// the source is looked at. One never looks back.
#pragma once

#include <cstdint>
#include <string>

namespace longhaul {

class OnOffSource {
 public:
  // Means in seconds. `name` and `index` tell the sources of a seed apart.
  OnOffSource(double on_s, double off_s, std::uint64_t seed, const std::string& name, int index);

  void advance_to(std::int64_t time_ns);
  bool is_on() const { return is_on_; }
  std::int64_t next_change_ns() const { return next_ns_; }  // after the time of advance_to()

 private:
  std::int64_t draw_ns();

  double on_s_, off_s_;
  std::uint64_t seed_;
  std::uint32_t index_, draws_ = 0;
  bool is_on_ = false;
  std::int64_t next_ns_ = 0;
};

}  // namespace longhaul
