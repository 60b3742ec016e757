// The journal of a training: what happens to the rows of its replicas, in an order in which it can happen.
// Simulated time decides who does what; the journal says it, and the trainer carries it out, entry by entry,
// and knows nothing else about time. A replica that takes no part in something has no entry there.
//
// Words for a replica that takes no part: it is gone from a crash until it is back (its absence); it is late
// where it posts after the others, and is passed by where they do not wait for it; it sits out where a
// grouping leaves it over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/plan/operations.h"
#include "core/plan/schedule.h"

namespace longhaul {
namespace journal {

// Replicas (always ascending) take the inner steps `first` … `last`, of which none waits for another replica.
// Where an operation comes before the optimizer, the gradients alone.
struct Compute {
  std::vector<int> replicas;
  int first = 0, last = 0;
};

// The optimizer of a step whose gradients were exchanged.
struct Optimize {
  std::vector<int> replicas;
  int step = 0;
};

// What the members of the operation's groups contribute is taken from their rows. A blocking operation has
// none: that happens when they meet. Where others may take its result than its members, it has takers.
struct Post {
  Operation operation;
};

// The contributions are combined, and the operation's takers take the method's step with what came of it.
struct Meet {
  Operation operation;
};

struct Local {
  int number = 0;  // of the plan's local steps
  std::vector<int> replicas;
};

// Of merges (OperationKind::kMerge), numbered in the order in which they are made.
struct Contribute {
  std::size_t merge = 0;
  int rule = 0, replica = 0, step = 0;
};

struct MakeMerge {
  std::size_t merge = 0;
  int rule = 0;
  std::vector<Merge::Contribution> contributions;
  // Of each contribution: of all the steps, those that its replica's model has since it contributed last to
  // the rule. What it got from another when it came back counts as that one's.
  std::vector<float> shares;
};

struct TakeUp {
  std::size_t merge = 0;
  int rule = 0, replica = 0;
};

// What a replica begins with that comes back: `source`'s rows as they are now are held as copy number `copy`;
// the replica's rows become those. Copies are held until then.
struct Hold {
  std::size_t copy = 0;
  int source = 0;
};

struct Become {
  std::size_t copy = 0;
  int replica = 0;
};

// The replica's model as it is now is evaluated with those of others that come to `step` later.
struct Keep {
  int step = 0;
  std::string phase;
  int replica = 0;
};

// phase: "before" and "after" the exchanges of the step, or "plain" where it has none.
struct Evaluate {
  int step = 0;
  std::string phase;
  std::vector<int> replicas;
};

// All have ended the step: `replicas` computed it, and `there` have come through its exchanges too.
struct EndStep {
  int step = 0;
  std::vector<int> replicas, there;
};

// A checkpoint.
struct Save {
  int step = 0;
};

}  // namespace journal

using Entry =
    std::variant<journal::Compute, journal::Optimize, journal::Post, journal::Meet, journal::Local,
                 journal::Contribute, journal::MakeMerge, journal::TakeUp, journal::Hold, journal::Become,
                 journal::Keep, journal::Evaluate, journal::EndStep, journal::Save>;

class Journal {
 public:
  virtual ~Journal() = default;
  // The next entries, one at least; none at the end. Entries follow from the plan and the schedule alone, so
  // that a count of entries is a place in the journal.
  virtual std::vector<Entry> next() = 0;
  // Two of the same identity have the same entries: the hash of what was read, or that it is the plan's.
  virtual std::string identity() const { return "of the plan"; }
};

// A journal's entries behind the first `passed` ones, and what these leave under way.
struct Continued {
  std::vector<Entry> entries;      // of the segment that was begun
  std::vector<Operation> pending;  // posted, and not met
};
Continued skip(Journal& journal, std::int64_t passed);

struct JournalSpec {
  const OperationPlan& plan;  // must outlive the journal
  PlanContext context;
  int evaluate_every = 0, checkpoint_every = 0;  // steps; the last one is evaluated and kept besides
  // Of a group that was drawn, one who is left over goes on with its own gradients; or throws them away.
  bool discards = false;

  bool is_evaluated(int step) const { return step % evaluate_every == 0 || step == context.steps; }
  bool is_kept(int step) const { return step % checkpoint_every == 0 || step == context.steps; }
};

// `schedule`: as the replay wrote it; of plans in which time decides nothing an empty one, and then the
// journal follows from the plan.
std::unique_ptr<Journal> make_journal(const JournalSpec& spec, Schedule schedule);

// Replicas, ascending: those that are not gone; of these those that take the step; and those that have come
// through its exchanges too, or at the last step, where all went in these, those that had computed it.
std::vector<int> present(const Absences& absences, const PlanContext& context, int step);
std::vector<int> computing(const OperationPlan& plan, const Absences& absences, const PlanContext& context,
                           int step);
std::vector<int> ending(const Absences& absences, const PlanContext& context, int step);

}  // namespace longhaul
