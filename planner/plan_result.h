// What came out of a search, and how it is said: on the terminal, as JSON, as a scenario.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "planner/connection_gain.h"
#include "planner/plan_request.h"
#include "planner/search.h"

namespace longhaul {

struct BusyLink {
  std::string name;  // "Oslo-wan", "Oslo's uplink", or of two sites that were measured "Oslo-Paris"
  bool is_forward = true;
  double rate = 0;   // bit/s in that direction; of all connections of two nodes, where sites were measured
  double bytes = 0;  // a step of the training, mean
  double busy = 0;   // share of the training's time that these bytes fill
  std::vector<std::string> sites = {};  // both, where they were measured
};

struct Upgrade {
  std::string what;         // "Oslo's uplink", "the link Oslo-wan", "every node's own link"
  double from = 0, to = 0;  // bit/s
  double saved_s = 0;       // of the whole training; may be below 0 within the model's error
};

struct Sensitivity {
  std::vector<BusyLink> links;    // the busiest first
  std::vector<Upgrade> upgrades;  // the largest saving first
};

// `choice` has been replayed. What leaves the time alone is in the list too, with a saving of about 0.
Sensitivity sensitivity_of(const Evaluation& choice, const PlanTools& tools);

struct SiteShare {
  std::string name;
  int nodes = 0, accelerators = 0;  // of all its nodes
  std::string accelerator;          // its name; "": the plan gives none
  double step_s = 0;                // compute of a node
  double computes = 0;              // share of the time in which a node computes
  double rent = 0, egress_cost = 0;
  std::optional<Evaluation> without;  // the choice without it; none: `why_not`
  std::string why_not;
};

// Of a plan whose file has sites; else none. Replays one plan a site, of the eight sites that have the fewest
// nodes. `folder`: where the validated scenarios' files lie.
std::vector<SiteShare> site_shares(const PlanRequest& plan, const SearchResult& search,
                                   const TokenNeeds& needs, const PlanTools& tools,
                                   const std::string& folder);

// The site whose absence helps the most: less time or money and no more of the other, or a limit that is
// kept or missed by less. Null: none.
const SiteShare* best_left_out(const std::vector<SiteShare>& sites, const SearchResult& search);

struct TimeRange {
  double mean_s = 0, low_s = 0, high_s = 0;
};

struct FaultyTime {
  std::string words;  // of the candidate
  TimeRange without;  // of the whole training without faults
  int draws = 0;
  double drawn_s = 0;     // of one draw, without faults
  double longer = 0;      // mean share by which the training takes longer
  double half_width = 0;  // of its 95 % interval by Student's t over draws

  TimeRange time() const;
  // Share of the time that faults do not cost: at most 1, also where draws of few faults say otherwise.
  double goodput() const { return 1 / (1 + std::max(0., longer)); }
};

// The choice, then the best replayed plan of each other method. Empty where the plan file has no faults.
// Methods that cannot meet them are left out, with a word in `notes`.
std::vector<FaultyTime> faulty_times(const PlanRequest& plan, const SearchResult& search,
                                     const PlanTools& tools, std::vector<std::string>& notes);

// What a plan takes in fidelity linux, of replays of its first steps with several seeds.
struct VerifiedTime {
  std::string words;       // of the candidate
  double estimated_s = 0;  // by the search, with fair queues
  int seeds = 0;           // 0: not replayed, since that takes too many segments
  int replayed_steps = 0;
  std::int64_t segments = 0;                 // of one replay, estimated
  double mean_s = 0, low_s = 0, high_s = 0;  // of the whole training; over seeds
};

struct Verification {
  Json fifos;                       // as network.tcp has them
  double residual = 0;              // of the network model there; 1: not known
  std::vector<VerifiedTime> plans;  // the choice, and its nearest rival if there is one
  bool has_taken_rival = false;     // it was the choice of the search, and is slower there

  bool is_replayed() const { return plans.front().seeds > 0; }
};

// Of a plan whose queues the search cannot see; else none. Where the rival of the choice is better there, it
// becomes the choice of `search`. Throws RunError.
std::optional<Verification> verified(const PlanRequest& plan, const PlannedNetwork& network,
                                     SearchResult& search, const PlanTools& tools);

struct PlanResult {
  TokenNeeds needs;
  SearchResult search;
  std::optional<Verification> verification;
  Sensitivity sensitivity;
  std::vector<SiteShare> sites;
  std::vector<FaultyTime> faulty;
  std::vector<GainTime> by_gain;

  const Evaluation& choice() const { return search.evaluations.front(); }
};

// The sentence that decides: what to take, how long, how dear, and what else is on the front for what.
std::string decision(const PlanRequest& plan, const PlanResult& result);

// What the choice and its rival take behind the plan's FIFOs, and on which condition; "" where it has none.
std::string verification_in_words(const PlanRequest& plan, const PlanResult& result);

// One sentence: time with its range, money and what to change.
std::string in_short(const PlanRequest& plan, const PlanResult& result);

// What no replay can know, in sentences: the loss, how the time was found, how wrong it may be.
std::vector<std::string> caveats(const PlanRequest& plan, const PlanResult& result);

// What it means to be on the front.
std::string front_in_words(const SearchResult& search);

// Throws std::logic_error where a time cannot be (expect_possible()). What prints or writes a result asks
// first.
void expect_possible(const PlanResult& result);

// What lies between the low and the high end of a time.
std::string range_meaning();

// Everything for the terminal: decision, table, H, memory, links, placement.
std::string plan_text(const PlanRequest& plan, const PlanResult& result);

// plan.json: format 1; the same in numbers, SI units, for other programs and for the page.
Json plan_data(const PlanRequest& plan, const PlanResult& result);

// The chosen plan as a scenario of all its steps, for longhaul check and longhaul run.
Json chosen_scenario(const PlanRequest& plan, const PlanResult& result);

// A script that starts the choice on a node: its rank, the environment of NCCL and Gloo, and the sysctls that
// the times rest on.
std::string launch_script(const PlanRequest& plan, const Evaluation& choice);

// One HTML file with the same, which opens offline.
std::string plan_page(const Json& data);

double accelerator_hours(const PlanRequest& plan, const Evaluation& evaluation);

// Which rank stands at which site: "Oslo: 0-3, 5; Bergen: 4".
std::string placement_in_words(const Case& config);

// Tables for the terminal, columns of one unit each.
// The plans that were replayed, the choice first; at most 16.
std::string plans_table(const PlanRequest& plan, const SearchResult& search);

// The choice's recipe with every H.
std::string inner_steps_table(const PlanRequest& plan, const SearchResult& search);

// What each site gives and takes, and the choice without it.
std::string sites_table(const PlanRequest& plan, const PlanResult& result);

// With a heading: the choice, and the best plan of each other method, with the plan's faults.
std::string faults_table(const PlanResult& result);

// "12,400": three significant digits where there are more before the point.
std::string human_amount(double amount);

}  // namespace longhaul
