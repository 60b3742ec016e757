// The search for a plan: which of the candidates are worth it in time, money and bytes that leave a site.
//
// A larger H saves time, money and bytes, and may cost loss, which no replay sees. So a plan is compared with
// those alone whose H is the same or smaller: the front has every plan that none of these is better than in
// time, money and bytes at once. Of plans that none may be told apart from in the replay one is taken.
//
// Every candidate is checked as a scenario is, and replayed with fidelity analytic, in which messages do not
// hinder each other. That time, and the one that the busiest link needs for its bytes, are lower bounds.
// Flow then replays what may be the choice, of each method, until nothing that is left can be, even with its
// lower bound; the same without deadline and budget, which says what these cost; every H of the choice; and,
// most promising first, what may be on the front. `replays` ends
// that early. Of each method at least one candidate is replayed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/pipeline.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "planner/candidates.h"
#include "planner/extrapolation.h"
#include "planner/plan_request.h"

namespace longhaul {

// Of one accelerator, bytes. Mixed precision with AdamW: 18 bytes a parameter (ZeRO, arXiv 1910.02054,
// section 3.1, with gradients in float32), of the node's stage or of the whole model, cut over the
// accelerators of a node.
struct MemoryNeed {
  double weights = 0;      // bf16 copy 2, float32 master 4
  double gradients = 0;    // 4
  double optimizer = 0;    // two moments 8
  double outer_state = 0;  // of the method: 4 for each row that it keeps (core/plan/operations.h)
  // Of a layer 34 · tokens · hidden where they are kept, and 2 where they are computed again, layer by layer,
  // and those of one layer (arXiv 2205.05198, whose attention is always computed again): of one sequence on
  // each accelerator, or of the micro-batches that the schedule has under way in a stage, cut over a node's
  // accelerators. 0 where the shape is not known.
  double activations = 0, kept_activations = 0;
  double available = 0;           // 0: not known
  std::string where;              // " at Oslo", " in stage 0": where it is of one site or stage
  std::vector<double> of_stages;  // by stage, computed again and with the outer state; empty: one stage

  double with_outer_state() const { return weights + gradients + optimizer + outer_state; }
  double without_outer_state() const { return with_outer_state() - outer_state; }
  bool fits() const { return available == 0 || without_outer_state() + activations <= available; }
  double share() const { return available > 0 ? (without_outer_state() + activations) / available : 0; }
  // The outer state may lie in the host's memory between two outer steps.
  bool needs_host() const { return available > 0 && with_outer_state() + activations > available; }
};

// Where sites have accelerators of their own, of those that are filled the most; of the stage that needs
// most.
MemoryNeed memory_need(const PlanRequest& plan, const Case& config);

// The same of a method that keeps `rows`; `tokens`: of a replica and step.
MemoryNeed memory_need(const PlanRequest& plan, const PipelinePlan& pipeline, std::int64_t tokens,
                       double rows);

// "35.7 GB of 80 GB an accelerator: weights 7.2, …".
std::string memory_in_words(const MemoryNeed& need);

// How many tokens each method needs: what the plan says, or what learning curves say that took it to a loss.
struct TokenNeeds {
  std::map<std::string, std::int64_t> of_method;
  // By method, of the curves alone: tokens to the target, mean over cases.
  std::map<std::string, double> of_curves;
  std::vector<std::string> notes;  // what was left out, and why
};

// `methods`: the candidates. Throws InputError where no curve of a candidate reaches the target.
TokenNeeds token_needs(const PlanRequest& plan, const std::vector<std::string>& methods);

// Tokens at which a curve is at the loss for the first time, between two evaluations on the straight line; 0:
// never. `points`: tokens and loss, in ascending order.
double tokens_to(double loss, const std::vector<std::pair<double, double>>& points);

// A candidate with what it costs.
struct Evaluation {
  Candidate candidate;
  Case config;
  std::string left_out;      // why it is no choice; "": it is one
  bool is_replayed = false;  // with flow (or the fidelity of the plan); else analytic alone
  TrainingTime time;
  double residual = 0;   // of the network model, a fraction of what the network adds
  double compute_s = 0;  // S steps without the network
  double bubble_s = 0;   // by which a pipeline's schedule takes longer, without the network too
  double utilization = 0;
  double busiest_s = 0;   // that a link, or the connections of two nodes, need for their bytes
  double expected_s = 0;  // while it is not replayed: total_s is a lower bound, and this is likelier
  double compute_cost = 0, egress_cost = 0;
  SiteTraffic traffic;
  MemoryNeed memory;
  std::string folder;         // of its replay
  std::size_t exchanges = 0;  // equal: the same to a replay

  double total_s() const { return time.total_s; }
  double cost() const { return compute_cost + egress_cost; }
  double bytes() const { return traffic.together(); }
  // What the network adds may be so much shorter or longer, and what is drawn (TrainingTime::half_width_s).
  // Never less than the compute.
  double low_s() const;
  double high_s() const;
};

// H as it is compared: a method without it synchronizes every step.
int inner_steps_of(const Evaluation& evaluation);

// Throws std::logic_error where a time cannot be: below its compute, or outside of its own range. Nothing is
// printed of such a plan.
void expect_possible(const Evaluation& evaluation);

// At most (1 + tolerance) times as much in time, money and bytes, and no larger H.
bool is_no_worse(const Evaluation& a, const Evaluation& b, double tolerance);

// Share of computing and money, of its time.
void price(const PlanRequest& plan, Evaluation& evaluation);

// Whether `a` is at most `b` in H, time, money and bytes, and less in one of them.
bool dominates(const Evaluation& a, const Evaluation& b);

// What differs by less does not matter to a planner.
constexpr double kSameToAPlanner = 0.005;

// What to take of several plans. First those within deadline and budget; without any, those that miss them by
// the least. Of these those that compute `min_utilization` of their time. To `time`: of the plans that take
// at most 1 / min_utilization of `least_compute_s` the smallest H, and the fastest of these; without any, or
// with a min_utilization of 0, the fastest. To `money` and `bytes`: the least, whatever H. Ties go to the
// other two, then to the smaller H. Times within half a per cent of the least compute are a tie to `time`.
struct ChoiceRule {
  Preference prefer = Preference::kTime;
  double min_utilization = 0;
  double least_compute_s = 0;  // of all candidates: tokens may differ by method
  std::optional<double> deadline_s = {}, budget = {};

  bool has_limits() const { return deadline_s || budget; }
  // How far the one of deadline and budget is exceeded that is exceeded by more, as a fraction of it.
  double excess(const Evaluation& evaluation) const;
  bool keeps(const Evaluation& evaluation) const { return evaluation.utilization >= min_utilization; }
  // Whether `one` is a choice while `best` is the best plan that is known.
  bool is_eligible(const Evaluation& evaluation, const Evaluation& best) const {
    return (excess(evaluation) == 0 || excess(best) > 0) && (keeps(evaluation) || !keeps(best));
  }
  bool is_better(const Evaluation& a, const Evaluation& b) const;
};

// The numbers of those that are not left out and that none dominates, the better first; of several that are
// the same to a planner in all three the best one alone.
std::vector<std::size_t> pareto_front(const std::vector<Evaluation>& all, const ChoiceRule& rule);

// One replay that the search asks for. Who carries it out writes the tables of the case into `folder`.
struct ReplayTask {
  std::string name;  // for people
  Case config;
  Trace trace;
  std::string folder;  // filled in by who replays; "": it failed, and `error` says why
  std::string error;
};

// The first steps of a case, at a fidelity, as a task.
ReplayTask first_steps(Case config, int steps, const std::string& fidelity, const std::string& name);

struct PlanTools {
  // Checks a scenario of one case, whose files lie in `folder`, as `longhaul check` does. Throws InputError.
  std::function<Case(const Json& scenario)> validated;
  // Replays all, some at a time; `phase` is what the user sees. May throw to end the search.
  std::function<void(std::vector<ReplayTask>& tasks, const std::string& phase)> replay;
};

struct SearchResult {
  std::vector<Evaluation> evaluations;  // replayed, the front first and the choice before all
  std::size_t front = 0;                // so many of them are the front
  std::vector<Evaluation> of_choice;    // the choice's recipe with every H
  std::size_t candidates = 0;           // without doubles
  int replays = 0;                      // with flow
  int not_replayed = 0;  // candidates that lower bounds rule out, or for which `replays` ran out
  int still_open = 0;    // the latter
  ChoiceRule rule;
  std::optional<Evaluation>
      without_limits;              // what would be taken without deadline and budget, if another plan
  std::vector<std::string> notes;  // what was left out, and why
};

// Throws InputError where no candidate can be; `needs` says the tokens of each method.
SearchResult search_plan(const PlanRequest& plan, const PlannedNetwork& network, const TokenNeeds& needs,
                         const PlanTools& tools);

// Of what was replayed the best plan of each method, the choice before all.
std::vector<const Evaluation*> best_of_each_method(const SearchResult& search);

// Of cases that are replayed otherwise than as candidates (another rate of a link): their times.
std::vector<TrainingTime> times_of(const std::vector<Case>& cases, const PlanTools& tools,
                                   const std::vector<std::string>& names, const std::string& phase);

// Gives each rank of a candidate the step of the site where it stands, which is known once ranks have places:
// the scenario and the case get workload.step_time_factors, with the order of ranks as it was found. Where
// slow replicas take fewer steps of a round, more rounds make up for their tokens.
void give_steps_to_ranks(const PlanRequest& plan, const std::function<Case(const Json&)>& validated,
                         Evaluation& evaluation);

// Compute of one worker in the whole training, in steps of the plan's slowest node.
double computed_steps(const Case& config, int rank);

// The same of the replica that computes for longest, of stages the mean over its workers: no training is
// shorter.
double longest_compute(const Case& config);

}  // namespace longhaul
