// exchanges.csv of a case, row by row, with what its trace says of the rules: the one reader of that table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/statistics.h"
#include "core/base/csv.h"
#include "core/base/options.h"
#include "core/plan/trace.h"

namespace longhaul {

// A rule of the trace's header, as the analysis needs it.
struct ExchangeRuleFacts {
  std::string name;
  int overlap_steps = 0;  // > 0: posted at one step, awaited so many steps later
  std::string kind = {}, collective = {};  // in words

  bool is_merge() const { return kind == word_of(OperationKind::kMerge); }  // by a synchronizer
};

// Of the trace of a case; none without one. Throws InputError for a damaged trace.
std::vector<ExchangeRuleFacts> exchange_rules(const std::string& case_folder);

// What passes between the stages of a replica, bytes, as the trace says; 0 without stages. It is the same at
// every step and for all replicas, but where bits were learned.
class StageBytes {
 public:
  explicit StageBytes(const std::string& case_folder);  // throws InputError for a damaged trace

  // Of a replica in the steps up to this one.
  std::int64_t until(std::int64_t step, int replica) const;
  // Of one step: a whole number, or the mean over steps and replicas of what was learned.
  Json of_step() const;
  // Bits of a hop, {mean, last}, over steps, replicas and hops, and at the last step alone. Null where none
  // were learned.
  Json bits() const;

 private:
  std::optional<Trace> learned_;
  std::vector<std::vector<std::int64_t>> sums_;  // of learned_: [step][replica], up to the step
  std::int64_t of_step_ = 0;
};

class ExchangeTable {
 public:
  // Throws DamagedFile if the table cannot be read. Rows of rules that the trace does not know block.
  explicit ExchangeTable(const std::string& case_folder);

  // Goes to the next row, in the order of (step, rule, replica); false at the end. Throws DamagedFile for a
  // step or a replica that the trace does not have.
  bool next();

  std::int64_t step() const { return step_; }  // at which it was posted
  std::int64_t replica() const { return replica_; }
  std::string_view exchange() const { return rows_.text(kExchange); }  // the rule's name
  double ready_s() const { return rows_.number(kReady); }              // the replica posted it
  double start_s() const { return rows_.number(kStart); }
  double done_s() const { return rows_.number(kDone); }
  std::int64_t bytes() const { return rows_.integer(kBytes, 0, kMostBytes); }

  // Whether it overlaps with compute: posted at one step, awaited at a later one.
  bool overlaps() const { return rule_ && rule_->overlap_steps > 0; }
  // When the replica came to the point that needs it: ready_s of one that blocks.
  double awaited_s() const { return rows_.number(kAwaited); }
  // Whether the replica computed after it was ready: steps, or the rest of a backward pass.
  bool hides() const { return overlaps() || awaited_s() > ready_s(); }

  // False of one that was passed by: it sends nothing and is done when it is ready.
  bool takes_part() const { return bytes() > 0 || done_s() > ready_s() || is_answered(); }
  // False of one that takes part and exchanges nothing: it waited for others that did not come, or what it
  // sent a synchronizer never came back; it may have sent a part before that. Its wait counts, and it has no
  // time of a synchronization. Who needs nobody's message exchanges in 0 s.
  bool exchanges() const {
    if (rule_ && rule_->is_merge()) return done_s() > ready_s() || is_answered();
    return done_s() > start_s() || (bytes() > 0 && done_s() == ready_s());
  }

  // Whether its times count as the method's synchronization: it blocks, or nothing of the method does. What
  // is sent ahead of a blocking exchange counts with that.
  bool is_synchronization() const { return (!overlaps() || !blocks_somewhere_) && takes_part(); }
  double sync_s() const { return done_s() - start_s(); }
  // Waited for those that it must hear from, of the time that the replica stood still.
  double wait_s() const;
  // Stood still for it, if it were the only one: from awaited_s to done_s, 0 if it was done before.
  double exposed_s() const { return std::max(0., done_s() - awaited_s()); }

 private:
  enum Cell { kStep, kReplica, kExchange, kReady, kStart, kDone, kBytes, kAwaited };

  // The sum of a table's rows is an integer too.
  static constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;

  // By a synchronizer, be it in 0 s: what has no answer was never awaited.
  bool is_answered() const { return rule_ && rule_->is_merge() && awaited_s() > ready_s(); }

  std::int64_t steps_ = kMostOfACount, workers_ = kMostReplicas;  // of the trace
  std::vector<ExchangeRuleFacts> rules_;
  bool blocks_somewhere_ = false;
  CsvStream rows_;
  const ExchangeRuleFacts* rule_ = nullptr;  // of the row
  std::int64_t step_ = 0, replica_ = 0;
};

// What replicas stand still, row by row: of exchanges that a replica awaits at one point, and that run beside
// each other, it is what the later ends add.
class StandStill {
 public:
  // `residual`: times are right to a factor of 1 ± it.
  explicit StandStill(double residual) : residual_(residual) {}

  struct Times {
    double wait_s = 0, exposed_s = 0;      // as of the row, less what was stood still before it
    Interval possible_exposed_s = {0, 0};  // with the network model's error
  };
  // Of the rows in the order of the table.
  Times add(const ExchangeTable& row);

 private:
  struct Point {
    double awaited_s = -1, end_s = -1;
    Interval possible_end_s = {0, 0};
  };
  double residual_;
  std::map<std::int64_t, Point> points_;  // by replica, of its last row
};

// The exchanges that a replica posts at a step and that count as synchronization, together.
struct Synchronization {
  std::int64_t step = -1, replica = 0;
  bool exchanges = false;  // one of its rows does
  double sync_s = 0;       // in which one or more of them are under way
  double of_each_s = 0;    // their times added up
  double wait_s = 0, exposed_s = 0;
  Interval possible_exposed_s = {0, 0};  // with the network model's error
  double exchange_s = 0;                 // sync_s; of what compute hides exposed_s less wait_s
};

// Those of exchanges.csv in the order of their first rows; `each` is called for every row of the table.
// `residual`: times are right to a factor of 1 ± it. Throws as ExchangeTable.
std::vector<Synchronization> synchronizations(const std::string& case_folder, double residual = 0,
                                              const std::function<void(const ExchangeTable&)>& each = {});

// Where the time of a synchronization goes: {part: seconds} over the rows of CASE_FOLDER/breakdown.csv that
// count as synchronization. The parts add up to the mean time of those of `all` that exchange: while several
// are under way each counts as its share. Null without such rows. Throws DamagedFile.
Json sync_breakdown(const std::string& case_folder, const std::vector<Synchronization>& all);

}  // namespace longhaul
