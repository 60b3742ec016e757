#include "methods/common/waiting.h"

#include <fmt/core.h>

#include <limits>

#include "core/base/errors.h"
#include "core/base/units.h"

namespace longhaul {

namespace {

constexpr double kLongest_s = 1e9;

// The time to wait follows what was seen.
Node adaptive_grace() {
  return section(
      "", {number("mads").at_least(0).required().in("MADs").means(
               "wait for the median lag so far and so many times its median absolute deviation; a lag: "
               "how long after the quorum, or the first of a group, a later member was ready"),
           integer("window")
               .at_least(1)
               .by_default(64)
               .in("operations")
               .means("lags of the last so many averages count, those of all groups"),
           duration("at_least")
               .at_least(0)
               .at_most(kLongest_s)
               .by_default("1s")
               .means("the shortest time to wait"),
           either("start", {choice("", {"unlimited"}), duration("").at_least(0).at_most(kLongest_s)})
               .by_default("unlimited")
               .means("the time to wait while no lag is known")});
}

Node grace(const char* fallback, const char* meaning) {
  return either("grace",
                {choice("", {"unlimited"}), duration("").at_least(0).at_most(kLongest_s), adaptive_grace()})
      .by_default(fallback)
      .later()
      .means(meaning);
}

double start_s(const Json& start) {
  return start == "unlimited" ? std::numeric_limits<double>::infinity() : parse_duration(start);
}

}  // namespace

Node grace_option() {
  return grace("unlimited",
               "how long the first of a group waits for the others: who is later is passed by, goes on with "
               "its own weights, and waits for nothing. An object: median + mads · MAD of what was seen");
}

std::vector<Node> quorum_options(bool late_ones_fetch) {
  const char* meaning =
      late_ones_fetch
          ? "the average begins with those who are there when so many were for the time of grace; who is "
            "later gets its result from one who has it, and what it had to contribute is thrown away"
          : "the average begins with those who are there when so many were for the time of grace; who is "
            "later is passed by, goes on with its own weights, and waits for nothing";
  return {either("quorum", {choice("", {"all"}), integer("").at_least(1)})
              .by_default("all")
              .later()
              .in("replicas")
              .means(meaning),
          grace("0s",
                "with quorum: how long it waits for the others then; a deadline is a quorum of 1. An object: "
                "median + mads · MAD of what was seen")};
}

std::vector<Node> merge_options() {
  return {either("quorum", {choice("", {"all"}), integer("").at_least(1)})
              .by_default("all")
              .in("replicas")
              .means("a merge of a fragment is made with those whose contributions have arrived when so many "
                     "were there for the time of grace (K); what arrives later is in the next one"),
          grace("0s",
                "with quorum: how long a merge waits for the others then. An object: median + mads · MAD of "
                "what was seen"),
          either("slack", {choice("", {"unlimited"}), integer("").at_least(0)})
              .by_default("unlimited")
              .in("steps")
              .means("with quorum all: how many steps after overlap a replica waits for the merge that it "
                     "contributed to; unlimited: it never waits; 0: this is streaming-diloco")};
}

Completion completion_of(const Json& options) {
  const Json quorum = options.value("quorum", Json(1)), grace = options.value("grace", Json("unlimited"));
  if (quorum == "all" || grace == "unlimited") return {};
  if (!grace.is_object()) return {quorum.get<int>(), parse_duration(grace)};
  return {quorum.get<int>(), 0,
          AdaptiveGrace{grace.at("mads"), grace.at("window"), parse_duration(grace.at("at_least")),
                        start_s(grace.at("start"))}};
}

Completion fetched_completion_of(const Json& options) {
  Completion completion = completion_of(options);
  completion.fetches = !completion.is_all();
  return completion;
}

void check_waiting(const Case& config) {
  const Json& options = config.method.options;
  const bool has_quorum = options.contains("quorum");
  if (has_quorum && options["quorum"] == "all" && options.value("grace", Json("0s")) != "0s")
    throw InputError("method.grace", "found without quorum", "quorum and grace",
                     "a deadline is a quorum of 1");
  if (completion_of(options).is_all()) return;
  if (has_quorum && options.at("overlap_backward").get<double>() > 0)
    throw InputError("method.quorum", "found with overlap_backward", "one of them",
                     "buckets would go before it is known who takes part");
  if (has_quorum && options["quorum"].get<int>() > config.replicas)
    throw InputError("method.quorum", fmt::format("found {}", options["quorum"].get<int>()),
                     fmt::format("at most {}, the replicas", config.replicas));
}

}  // namespace longhaul
