// The exchange plan of a method: pure data. It says which tensors move, between whom, at which steps, and
// what may overlap with how many steps of compute. The trainer walks it and the trace is written from it, so
// that a network-only case and a trained one carry the same traffic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace longhaul {

// How an all-reduce may be lowered (net/collectives/ has each), and a group average of NoLoCo.
const std::vector<std::string>& all_reduce_collectives();     // ring, tree, ...
const std::vector<std::string>& group_average_collectives();  // pair, root, serial

enum class Grouping {
  kEveryone,  // one group of all replicas
  kRandom,    // disjoint groups of `group_size`, drawn anew for each outer step from the seed
  kSites,     // the same, inside a site but at every `across_every`-th outer step across sites
};

// One kind of exchange of a method, repeated every `every` steps, first at step `every`.
struct ExchangeRule {
  std::string name;        // "gradient", "outer", "presend"
  std::string collective;  // how it is lowered to transfers: "ring", "tree", ..., "pair", "root"
  int every = 1;           // steps
  Grouping grouping = Grouping::kEveryone;
  int group_size = 0;  // of kRandom and kSites
  std::vector<std::string>
      tensors;  // rows that each participant contributes, P elements each ("gradient", "delta", "phi")
  bool sharded = false;  // each participant contributes its 1/n of the tensors, padded to ceil(P/n) elements
  // 0: blocking, nobody goes on before it is done. d > 0: sent after the update of step s, needed at step s +
  // d, among the groups of step s + d; it may overlap with the compute in between.
  int overlap_steps = 0;
  // > 0, of a blocking rule: the last part of each step that is the backward pass, during which the payload
  // is released in `buckets` equal parts, one after another; the last one at the end of the step. Else one
  // piece.
  double overlap_backward = 0;
  int buckets = 1;
  int across_every = 0;  // of kSites, outer steps
};

constexpr int kMostBuckets = 4096;

struct ExchangePlan {
  std::vector<ExchangeRule> rules;
};

// Whether its groups depend on which replica is at which site.
bool needs_sites(const ExchangePlan& plan);

// One exchange of a rule: `post_step` is the step after which it may start, `await_step` the step whose end
// waits for it (equal: blocking). Each participant contributes `bytes`.
struct Exchange {
  const ExchangeRule* rule = nullptr;
  int post_step = 0, await_step = 0;
  std::vector<std::vector<int>> groups;  // replicas, in the order of the draw; empty: one group of everybody
  std::int64_t bytes = 0;  // payload of one participant's contribution: tensors · elements · wire bytes
};

// What a plan needs to know of a case to become exchanges.
struct PlanContext {
  std::uint64_t seed = 1;
  int replicas = 0;
  int steps = 0;
  std::int64_t parameters = 0;
  int wire_bytes = 2;             // bytes of one element on the wire
  std::vector<int> site_of = {};  // by replica, for rules with Grouping::kSites; else not needed
};

// The exchanges posted at `step` (1 … steps), blocking ones first: these follow each other in this order.
// None at step 0; an overlapped one that would be needed after the last step is not sent.
std::vector<Exchange> exchanges_at(const ExchangePlan& plan, const PlanContext& context, int step);

// Whether the rule posts an exchange at `step` of a training of so many steps.
bool is_posted_at(const ExchangeRule& rule, int steps, int step);

// The groups of an exchange as replicas, in the order of the draw; everyone is one group. Throws InputError
// where a replica does not exist or is in two groups.
std::vector<std::vector<int>> groups_of(const Exchange& exchange, int replicas);

// Exchanges point into their plan: a temporary would leave them dangling.
std::vector<Exchange> exchanges_at(ExchangePlan&& plan, const PlanContext& context, int step) = delete;

// Bytes of bucket 0 … buckets − 1 of one participant's contribution; they add up to `bytes`.
std::int64_t bucket_bytes(const Exchange& exchange, int bucket);

// Elements that one of `members` contributes of each tensor of P: ceil(P / members) where the rule is
// sharded, else P.
std::int64_t contributed_elements(const ExchangeRule& rule, std::int64_t parameters, int members);

// The random groups of the outer step at `step`: a permutation π of the replicas from (seed, step); group k
// is π[k], π[k + N/n], … (NoLoCo's pairing for n = 2). replicas must be a multiple of group_size.
std::vector<std::vector<int>> random_groups(std::uint64_t seed, int replicas, int group_size, int step);

// The groups of `group_size` of the outer step at `step` that know of sites; `site_of` by replica. Drawn from
// the same permutation π as random_groups, and different for each step.
//
// Inside: the replicas of a site, in the order of π, are cut into groups; those that are left over (of a site
// whose size is no multiple of group_size: one of three in pairs) form groups together, in the order of π,
// across sites. Across: random_groups, in which members that share a site with another of their group change
// places with members of other groups while that leaves fewer such members. In pairs none is left where no
// site has more than half of the replicas.
std::vector<std::vector<int>> groups_inside_sites(std::uint64_t seed, const std::vector<int>& site_of,
                                                  int group_size, int step);
std::vector<std::vector<int>> groups_across_sites(std::uint64_t seed, const std::vector<int>& site_of,
                                                  int group_size, int step);

}  // namespace longhaul
