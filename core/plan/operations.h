// What a method lets its workers say to each other, as pure data: which operations, among whom, at which
// steps, with which payload, and what may overlap with how many steps of compute. The trainer walks it and
// the replay does, so that a network-only case and a trained one carry the same traffic.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/model_shape.h"
#include "core/base/operation_kind.h"
#include "core/codecs/codec.h"
#include "core/parallelism/step_graph.h"
#include "core/plan/dynamic_steps.h"
#include "core/plan/hidden_units.h"
#include "core/plan/pipeline.h"

namespace longhaul {

// How an all-reduce may be lowered: "ring", "tree", ... net/collectives/ has each.
const std::vector<std::string>& all_reduce_collectives();

// Whether replicas send to targets of their own (Operation::targets).
bool has_targets(Grouping grouping);

// One row that each participant contributes, or columns of it.
struct PayloadPart {
  std::string tensor;  // "gradient", "delta", "phi", "weights": what the trainer makes it of
  Codec codec;
  Columns columns = {};  // empty: all
};
using Payload = std::vector<PayloadPart>;

// The whole of each tensor, in the numbers of the wire.
Payload whole(const std::vector<std::string>& tensors, Wire wire);

// When an operation begins, and which members of its group take part.
//
// all       as soon as every member has posted
// quorum    as soon as every member has posted; or `grace_s` seconds after `quorum` of them had, with those
// that
//           have posted by then. A deadline, D seconds after the first member, is a quorum of 1 and a grace
//           of D.
//
// A member that posts later takes no part, and waits for nothing. Who took part is known once the operation
// has a time: the replay writes it (schedule.h).
//
// Merges (kMerge, overlapped, among everyone) have other members. No replica waits for another: what is
// posted after step s goes to a synchronizer, beside replica 0, and is in the merge of its rule that is open
// when it arrives, whichever step the others are at. A merge is over as soon as all that can still contribute
// to it have; or the grace time after the quorum had. Those that contributed get the merged model, in
// `answer`, and take it up at the end of the first step from s + overlap_steps on at which it is there,
// before they post. Until then they post nothing of the rule. A merge is named by its rule and its number, 0,
// 1, …

// A grace time that follows the lags seen so far: median + mads · MAD, the median of their absolute
// deviations from the median. A lag is how long after the quorum was there (of a quorum of 1, after the first
// member) a later member of an operation of the rule posted.
struct AdaptiveGrace {
  double mads = 0;
  int window = 1;         // operations whose lags count, the last ones that have begun
  double at_least_s = 0;  // never a shorter one
  double start_s = 0;     // while no lag is known; infinite: until all have posted
};

struct Completion {
  int quorum = 0;      // 0: all
  double grace_s = 0;  // where it is fixed
  std::optional<AdaptiveGrace> adaptive = {};
  // Whoever is passed by waits for the result and goes on with that, as if it had taken part; what it had to
  // contribute is thrown away. Of a blocking rule of everyone.
  bool fetches = false;

  bool is_all() const { return quorum == 0; }
};

// One kind of operation of a method.
struct OperationRule {
  std::string name;  // "gradient", "outer", "presend"
  OperationKind kind = OperationKind::kAllReduce;
  std::string collective;  // how it is lowered to transfers: "ring", "tree", ..., "pair", "root"

  // It is posted after the steps s = phase, phase + every, phase + 2 every, … that are in
  // [first_step, last_step]; last_step 0: no end. Step 0 is none.
  int every = 1, phase = 0, first_step = 1, last_step = 0;
  // The gradients' way: between the backward pass and the optimizer of its step. Else after the optimizer.
  bool before_optimizer = false;
  // 0: blocking, no replica continues before it is done for it. d > 0: what was posted after step s is
  // awaited at the end of step s + d, among the groups of step s + d, and may overlap with the compute in
  // between.
  int overlap_steps = 0;
  // Of an overlapped rule: it is posted before the replica awaits what is due at the same step, so with what
  // the replica has computed by itself. Else after that.
  bool posts_first = false;
  // Of an overlapped rule: it has rows that no step changes until it is awaited, for the blocking one there.
  bool is_sent_ahead = false;
  // > 0, of a blocking rule: the last part of each step that is the backward pass, during which the payload
  // is released in `buckets` equal parts, one after another; the last one at the end of the step. Else one
  // piece.
  double overlap_backward = 0;
  int buckets = 1;
  // Where buckets are not released evenly: what is left of the step when each of them is, a share, falling.
  std::vector<double> releases = {};
  // Of an exchange in several operations: how much of the payload each of them has, in any unit, in the order
  // in which they are handed over. One for each bucket, or all of them with the only bucket. Empty: each
  // bucket is an operation.
  std::vector<std::int64_t> sizes = {};
  // Whether as many operations of an exchange are under way as the library runs at a time (net/library.h).
  // Else each begins when the one before it is done.
  bool together = false;

  Grouping grouping = Grouping::kEveryone;
  int group_size = 0;    // of kRandom, kSites and kGrid; of targets how many
  int across_every = 0;  // of kSites and kTwoLevel, in postings
  TargetGraph target_graph = TargetGraph::kOwn;  // of targets

  Completion completion = {};  // of a rule with one bucket
  // Of kMerge: how many steps after s + overlap_steps a replica waits for what it contributed to; -1: never.
  int slack_steps = -1;

  // The stage of a pipeline that it is of: its payload has columns of that stage alone, and of each replica
  // in its groups that stage's worker takes part. -1: no pipeline, or none of the plan's rules.
  int stage = -1;

  Payload payload = {};
  Payload answer = {};   // of kMerge: what comes back to each that contributed
  bool sharded = false;  // each participant contributes its 1/n of the columns, padded to ceil(columns/n)
  // Of kAllToAll, a blocking rule among everyone in plain numbers: the units that pass from their owners of
  // one round to those of the next (hidden_units.h). A contribution is what its owner has of them, padded to
  // the largest of all; what travels are the parts of it that change their owner, exactly.
  std::vector<HiddenUnits> units = {};

  bool is_blocking() const { return overlap_steps == 0; }
  // Where no groups are drawn or given, everyone is one.
  bool is_of_everyone() const { return grouping == Grouping::kEveryone || has_targets(grouping); }
  std::vector<std::string> tensors() const;
};

constexpr int kMostBuckets = 4096;

// What is left of the step when bucket 0 … buckets − 1 is released, a share.
double left_at_release(const OperationRule& rule, int bucket);

// What every replica does to its own rows at the steps that a rule would post at, without a message.
struct LocalStep {
  std::string name;
  int every = 1, phase = 0, first_step = 1, last_step = 0;
};

// Columns whose gradients the optimizer gets so many steps after they were computed.
struct GradientDelay {
  int steps = 0;
  Columns columns;
};

struct OperationPlan {
  std::vector<OperationRule> rules;
  std::vector<LocalStep> local = {};  // after the optimizer, before blocking operations. It takes no time.
  // One worker by itself takes the batches of all replicas at each step, and there are no rules
  // (whole_batch_steps()).
  bool takes_whole_batch = false, is_as_fast_as_all = false;
  bool has_own_data = false;            // each replica draws from its own part of the text
  std::vector<std::string> keeps = {};  // rows that the method keeps, by name (kept_rows())
  // One part, where the case has no pipeline. With stages each rule is of one of them.
  PipelinePlan pipeline = {};
  StepGraph step_graph = {};               // empty: a step is compute alone
  std::vector<GradientDelay> delays = {};  // of all columns; empty: no delay. They take no time.
  DynamicSteps dynamic_steps = {};         // its rules then post at the end of rounds alone
};

// How long a step with the batches of all replicas takes, in steps of one replica on a worker of factor 1:
// on replica 0's worker, or on all together, which share it by their speeds. `factors`: of workers, or empty.
double whole_batch_steps(const OperationPlan& plan, const std::vector<double>& factors, int replicas);

// How many replicas sit out each outer step, where groups are drawn: those that are left over.
int sitting_out(const OperationPlan& plan, int replicas);

// How many of the replicas have something to do.
int training_replicas(const OperationPlan& plan, int replicas);

// Whether times decide who takes part in an operation, and with it the numerics of a training.
bool timing_matters(const OperationPlan& plan);

// Whether it has rules of kind kMerge: then all are.
bool has_merges(const OperationPlan& plan);

// Whether an operation comes between gradients and optimizer.
bool exchanges_gradients(const OperationPlan& plan);

// Whether its groups depend on which replica is at which site.
bool needs_sites(const OperationPlan& plan);

// One operation of a rule: it may begin after step `post_step`; the end of step `await_step` waits for it
// (equal: blocking). Each participant contributes `bytes`.
struct Operation {
  const OperationRule* rule = nullptr;
  int post_step = 0, await_step = 0;
  std::vector<std::vector<int>> groups;  // replicas, in the order of the draw; empty: one group of everybody
  std::int64_t bytes = 0;                // of one participant's contribution, encoded
  std::vector<std::vector<int>> targets = {};  // of kSend, by replica; else empty
  std::uint64_t draw = 0;                // for random masks (RandomMask), from the seed and the post step
  std::vector<std::int64_t> parts = {};  // of kAllToAll: bytes from replica i to j, [i · replicas + j]
  // Where replicas have gone and come back since it was posted, or were passed by (Completion::fetches; then
  // any member stands in for their own contribution): who takes its result, and the member whose
  // contribution is its own (Absences::contributor). Else each member does, with its own.
  struct Taker {
    int replica = 0, contributor = 0;
  };
  std::optional<std::vector<Taker>> takers = {};
  // Of a blocking one: the members whose rows have become another's since they sent something ahead for it,
  // which therefore does not count.
  std::vector<int> sends_anew = {};
};

// Whether work is thrown away because it comes too late (Completion::fetches).
bool throws_late_work_away(const OperationPlan& plan);

// What a plan needs to know of a case to become operations.
struct PlanContext {
  std::uint64_t seed = 1;
  int replicas = 0;
  int steps = 0;
  std::int64_t parameters = 0;
  std::vector<int> site_of = {};  // by replica, for rules with Grouping::kSites; else not needed
};

// The operations posted at `step` (1 … steps), blocking ones first: these follow each other in this order.
// None at step 0; an overlapped one that would be awaited after the last step is not posted. They point into
// the plan.
std::vector<Operation> operations_at(const OperationPlan& plan, const PlanContext& context, int step);
std::vector<Operation> operations_at(OperationPlan&& plan, const PlanContext& context, int step) = delete;

// Those that were posted at an earlier step and are awaited at the end of `step`.
std::vector<Operation> operations_due(const OperationPlan& plan, const PlanContext& context, int step);

// The number of the operation's rule in the plan that it points into.
int rule_index(const OperationPlan& plan, const Operation& operation);

// Whether the rule posts an operation at `step` of a training of so many steps.
bool is_posted_at(const OperationRule& rule, int steps, int step);
bool is_taken_at(const LocalStep& local, int step);

// Of kConsecutive and kStrided: what is left over when the groups are full is in none.
std::vector<std::vector<int>> fixed_groups(Grouping grouping, int replicas, int group_size);

// Throws InputError where a replica does not exist or is in two groups.
void check_groups(const std::vector<std::vector<int>>& groups, int replicas);

// The groups of an operation as replicas, in the order of the draw, checked; everyone is one group.
std::vector<std::vector<int>> groups_of(const Operation& operation, int replicas);

// The operations that an exchange of the rule consists of.
int operation_count(const OperationRule& rule);

// Bytes of each of them, of one participant's contribution, in their order; they add up to `bytes`. And how
// many of them have so many bytes.
std::vector<std::int64_t> bytes_of_operations(const Operation& operation);
std::map<std::int64_t, int> operations_by_bytes(const Operation& operation);

// Bytes of the answer of a merge.
std::int64_t answer_bytes(const OperationRule& rule, std::int64_t parameters);

// The last step at which the rule posts an operation in a training of so many steps, and the first one from
// `from` on; 0: none.
int last_post_step(const OperationRule& rule, int steps);
int next_post_step(const OperationRule& rule, int steps, int from);

// Rounds that end with the operation of this rule at `step`: 1 for the first that an uninterrupted rule
// posts.
int round_at(const OperationRule& rule, int step);

// Columns of `part` that one of `members` contributes: ceil(columns / members) where the rule is sharded, of
// units the most that one of them owns.
std::int64_t contributed_columns(const OperationRule& rule, const PayloadPart& part, std::int64_t parameters,
                                 int members);

// Bytes of one of `members`' contribution: of all parts of the payload, encoded.
std::int64_t payload_bytes(const OperationRule& rule, std::int64_t parameters, int members);

// Groups are drawn anew for each outer step, from (seed, step) alone.

// The random groups of the outer step at `step`: a permutation π of the replicas from (seed, step); group k
// is π[k], π[k + ⌊N/n⌋], … (NoLoCo's pairing for n = 2). The last N mod n of π sit out, each a group of one
// behind the others.
std::vector<std::vector<int>> random_groups(std::uint64_t seed, int replicas, int group_size, int step);

// The groups of `group_size` of the outer step at `step` that know of sites; `site_of` by replica. Drawn from
// the same permutation π as random_groups, and different for each step.
//
// Inside: the replicas of a site, in the order of π, are cut into groups; those that are left over (of a site
// whose size is no multiple of group_size: one of three in pairs) form groups together, in the order of π,
// across sites; the last N mod n of these sit out. Across: random_groups, in which members that share a site
// with another of their group change places with members of other groups, or with those that sit out, while
// that leaves fewer such members. In pairs none is left where no site has more than half of the replicas.
std::vector<std::vector<int>> groups_inside_sites(std::uint64_t seed, const std::vector<int>& site_of,
                                                  int group_size, int step);
std::vector<std::vector<int>> groups_across_sites(std::uint64_t seed, const std::vector<int>& site_of,
                                                  int group_size, int step);

// The `count` others that each replica sends to at the outer step of `step`, in the order of the draw: each
// its own, uniformly.
std::vector<std::vector<int>> random_targets(std::uint64_t seed, int replicas, int count, int step);

// The reverse: by replica those that send to it, in ascending order.
std::vector<std::vector<int>> senders_of(const std::vector<std::vector<int>>& targets);

// Operation::draw of what is posted at `step`, of a rule of this stage or of none.
std::uint64_t mask_draw(std::uint64_t seed, int step, int stage = -1);

// The replicas of each site that has several.
std::vector<std::vector<int>> whole_sites(const std::vector<int>& site_of);

// Replicas 0 … base^d − 1 as a grid of d dimensions (Moshpit SGD, arXiv 2103.03239): the groups along one of
// them, those of round 0, 1, … The mean over groups in d rounds is the mean of all. Throws std::logic_error
// where replicas is no power of base (grid_dimensions() is 0).
std::vector<std::vector<int>> grid_groups(int replicas, int base, int round);
int grid_dimensions(int replicas, int base);

// What a replica keeps besides its weights, its gradient and the inner optimizer's two moments: rows of
// float32 numbers, each as long as the weights. Methods declare theirs by name (Method::keeps); codecs with
// error feedback have theirs besides. Arena, planner and recovery take them from here.

// Rows that several methods keep.
inline const std::string kSlowWeightsRow = "slow_weights", kOuterMomentumRow = "outer_momentum";
// Rows of codecs: what could not be sent; of EF21, the mean of what was; and of Reduction::kServers what the
// rounded means left out, of which a server keeps its 1/N and a replica here all.
inline const std::string kErrorRow = "error", kSentMeanRow = "sent_mean", kServerErrorRow = "server_error";

// Whether a codec of the plan feeds errors back in this way.
bool feeds_back(const OperationPlan& plan, Feedback kind);
bool has_servers(const OperationPlan& plan);  // Reduction::kServers

// All of them: the method's, then those of its codecs.
std::vector<std::string> kept_rows(const OperationPlan& plan);

}  // namespace longhaul
