#include "core/variation_options.h"

namespace longhaul {
namespace {

// Shorter periods would make a replay of hours one of millions of changes.
constexpr double kShortestPeriod_s = 1e-3;

Node direction_option() {
  return choice("direction", {"both", "forward", "backward"})
      .by_default("both")
      .means("forward: from the first to the second node of the link's name");
}

Node trace_options() {
  return section(
      "",
      {text("link").required().means("name of a link, or a glob of names, as replica*-core"),
       text("file").required().means("CSV with the columns time_s and rate_bps, delay_s or both"),
       either("repeat", {boolean(""), duration("").at_least(kShortestPeriod_s)})
           .by_default(false)
           .means("false: the last row stays; true: from the beginning again at the time of the last row; "
                  "or the period"),
       direction_option()});
}

Node background_options() {
  return section(
      "",
      {text("link").means("name of a link, or a glob of names, each with traffic of its own"),
       direction_option(), text("from").means("instead of link, with to: the node where the traffic begins"),
       text("to").means("the node where it ends"),
       integer("flows").at_least(1).means(
           "so many long-lived TCP connections, which take their max-min share of what they meet"),
       rate("rate").above(0).means("instead of flows: a rate on the wire that yields to nobody"),
       number("share").above(0).at_most(0.9).means(
           "instead of flows: such a rate as a part of the link's own"),
       duration("on")
           .at_least(kShortestPeriod_s)
           .means("mean of the exponential times in which it is on; default always"),
       duration("off").at_least(kShortestPeriod_s).means("mean of the times between them, with on")});
}

Node jitter_options() {
  return section(
             "jitter",
             {number("rate_sigma")
                  .at_least(0)
                  .at_most(3)
                  .by_default(0)
                  .means("standard deviation of the logarithm of a factor on the rate"),
              number("delay_sigma")
                  .at_least(0)
                  .at_most(3)
                  .by_default(0)
                  .means("standard deviation of the logarithm of a factor on the delay"),
              duration("every").at_least(kShortestPeriod_s).by_default("1s").means("how long a draw stays")})
      .means("log-normal factors of mean 1 for each link and direction, from the seed");
}

}  // namespace

Node variation_options() {
  return section("variation",
                 {list_of("traces", trace_options()).means("rates and delays of links from files"),
                  list_of("background", background_options()).means("traffic of others"), jitter_options()})
      .means("what of the network changes with time; nothing by default");
}

}  // namespace longhaul
