// Pairs of methods in few words: who is shown to be ahead of whom, and what would decide the rest. Of one
// point or of many.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/decision.h"

namespace longhaul {

class PairTally {
 public:
  // Of a metric; `names` of all that stand at one of the points, best first; so many `points`.
  PairTally(const Metric& metric, std::vector<std::string> names, std::size_t points);

  // What a point says of two groups of `row`. `is_told`: a sentence on the leader of all has it already.
  void add(const ComparisonRow& row, const Decision::Against& pair, bool is_told);

  // "noloco is ahead of ddp (6.1 to 8.2 times as long) at all 4 points", "c is behind all others at all 4
  // points"; each with the names of those behind. Every pair that is shown, but those told already at all
  // their points. Of many names those behind are "all from e on" in an order that the first phrase says.
  struct Phrase {
    std::vector<std::string> behind;
    std::string words;
    bool is_of_one_draw = false;
  };
  std::vector<Phrase> shown() const;

  // "no difference between diloco and noloco is shown at 3 of 4 points: it may be chance (about 9 seeds would
  // decide)"; of many pairs how many there are for which reason. {} where all is shown, or told.
  std::vector<Phrase> open() const;

 private:
  struct Count {
    std::size_t points = 0, untold = 0;
    bool is_of_one_draw = true;
    std::vector<double> leads;
  };
  struct Open {
    std::size_t points = 0;
    std::map<Decision::Doubt, std::size_t> doubts;
    std::vector<std::size_t> seeds_needed;  // of chance
    std::size_t seeds_for_a_large = 0;      // of single seeds
  };
  using Pair = std::pair<std::string, std::string>;

  std::string at(std::size_t least, std::size_t most) const;
  // Those behind as a part of `names`, of which `not_meant` do not count; "" where that is not shorter.
  std::string from_on(const std::vector<std::string>& behind,
                      const std::vector<std::string>& not_meant) const;
  std::string behind_with_lead(const std::string& name, const Count& count) const;
  std::vector<std::string> behind_all() const;
  Phrase behind_all_others(const std::string& name) const;
  std::string open_words(const Open& open) const;
  Phrase open_summary() const;

  const Metric metric_;
  const std::vector<std::string> names_;
  const std::size_t points_;
  std::size_t untold_ = 0;  // comparisons
  std::map<Pair, Count> shown_;
  nlohmann::ordered_map<std::string, std::pair<Pair, Open>> open_;  // in the order of their means
};

// Why nothing is shown, of one or more points.
std::string doubt_words(Decision::Doubt doubt);

}  // namespace longhaul
