#include "planner/sensitivity.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "analysis/report/network_links.h"
#include "analysis/run_files.h"
#include "analysis/text.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "methods/common/registry.h"
#include "net/topologies/matrix.h"
#include "planner/evaluation.h"
#include "planner/extrapolation.h"
#include "planner/planned_network.h"
#include "planner/replay_task.h"
#include "planner/site_traffic.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {
namespace {

constexpr double kFaster = 5;
constexpr std::size_t kShown = 8, kUpgraded = 3;

struct Rates {
  double forward = 0, backward = 0;  // 0: no limit
};

double limit_of(const LinkDirectionLoad& direction) {
  return direction.rate_bps.value_or(kNoLimit) < kNoLimit ? *direction.rate_bps : 0;
}

double raised(double rate) {
  return std::min(kFaster * rate, kNoLimit);
}

std::map<std::string, Rates> rates_of(const std::vector<NetworkLink>& links) {
  std::map<std::string, Rates> rates;
  for (const NetworkLink& link : links)
    rates[link.name] = {limit_of(link.directions[0]), limit_of(link.directions[1])};
  return rates;
}

bool is_of_node(const std::string& link) {
  return link.rfind("replica", 0) == 0;
}

// With what its replay carried; of a mesh those that carried something.
std::vector<NetworkLink> links_of(const Evaluation& choice) {
  const Topology topology = placed_topology(choice.config, plan_of(choice.config));
  const std::vector<LinkLoad>& loads = choice.replayed->loads;
  std::vector<NetworkLink> links;
  for (std::size_t i = 0; i < loads.size(); i += 2) {
    if (topology.is_mesh() && loads[i].bytes == 0 && loads[i + 1].bytes == 0) continue;
    const Link link = topology.link(static_cast<int>(i / 2));
    NetworkLink one{link.name, topology.node_name(link.first), topology.node_name(link.second), {}};
    for (std::size_t direction = 0; direction < 2; ++direction) {
      const LinkLoad& load = loads[i + direction];
      const double rate = direction == 0 ? link.rate_forward : link.rate_backward;
      one.directions[direction] = {static_cast<double>(load.bytes), load.busy_s, {}};
      if (std::isfinite(rate)) one.directions[direction].rate_bps = rate;
    }
    links.push_back(std::move(one));
  }
  return links;
}

// Those that have a rate. Fidelity analytic shares no link: there one may have more to carry than it can.
std::vector<BusyLink> busy_links(const Evaluation& choice, const std::vector<NetworkLink>& all) {
  std::vector<BusyLink> links;
  for (const NetworkLink& one : all)
    for (const bool is_forward : {true, false}) {
      const LinkDirectionLoad& direction = one.directions[is_forward ? 0 : 1];
      const double rate = limit_of(direction);
      if (rate > 0 && direction.bytes > 0)
        links.push_back({one.name, is_forward, rate, direction.bytes / choice.time.replayed_steps,
                         std::min(1., direction.bytes * 8 / rate / choice.time.replayed_s)});
    }
  stable_sort(links, [](const BusyLink& a, const BusyLink& b) { return a.busy > b.busy; });
  return links;
}

// What the connections of two nodes carry at most, where sites were measured: of each two sites the nodes
// whose connections are the busiest.
std::vector<BusyLink> busy_pairs(const Evaluation& choice) {
  const Case& config = choice.config;
  const OperationPlan plan = plan_of(config);
  Case begin = config;
  begin.workload.steps = steps_to_replay(periods_of(config, plan), config.steps());
  const Topology topology = placed_topology(config, plan);
  const std::vector<int>& site_of = topology.site_of();
  std::map<std::pair<int, int>, BusyLink> busiest;
  for (const auto& [nodes, bytes] : node_traffic(config, trace_of(begin), topology, config.steps())) {
    const auto [from, to] = nodes;
    const double rate = topology.connection_cap(from, to) * config.network.tcp.connections;
    if (rate == kUnlimited || site_of[as_index(from)] == site_of[as_index(to)]) continue;
    const std::pair sites(site_of[as_index(from)], site_of[as_index(to)]);
    BusyLink& link = busiest[sites];
    const double busy = std::min(1., 8 * bytes / rate / choice.total_s());
    if (busy <= link.busy) continue;
    const auto name = [&](int site) { return choice.traffic.sites[as_index(site)]; };
    link.is_forward = sites.first < sites.second;
    link.sites = {name(std::min(sites.first, sites.second)), name(std::max(sites.first, sites.second))};
    link.name = link.sites[0] + "-" + link.sites[1];
    link.rate = rate;
    link.bytes = bytes / config.steps();
    link.busy = busy;
  }
  return each_of(busiest, [](const auto& entry) { return entry.second; });
}

using Sites = std::vector<std::string>;

// The matrix of a case as a file in which some pairs of sites are faster; its absolute path.
std::string faster_matrix(const Evaluation& choice, const std::vector<Sites>& pairs,
                          const std::string& folder, int number) {
  const Case& config = choice.config;
  const Matrix matrix = load_matrix(config.network.topology.options.at("matrix"), config.folder);
  const auto written = [](const SitePair& pair, bool is_faster) {
    const auto rate = [&](double one) { return format_number(is_faster ? raised(one) : one) + "bps"; };
    Json json = {{"rtt", format_number(pair.rtt) + "s"}, {"throughput", rate(pair.throughput)}};
    for (const auto& [connections, together] : pair.together)
      json["measured"].push_back({{"connections", connections}, {"throughput", rate(together)}});
    return json;
  };
  Json json = {{"about", matrix.about()},
               {"source", matrix.source()},
               {"sites", matrix.sites()},
               {"inside", written(matrix.inside(), false)},
               {"pairs", Json::array()}};
  for (std::size_t i = 0; i < matrix.sites().size(); ++i)
    for (std::size_t j = i + 1; j < matrix.sites().size(); ++j) {
      const Sites sites = {matrix.sites()[i], matrix.sites()[j]};
      const bool is_faster = any_of(pairs, [&](const Sites& pair) {
        return pair == sites || pair == Sites{sites[1], sites[0]};
      });
      Json pair = written(matrix.between(sites[0], sites[1]), is_faster);
      pair["between"] = sites;
      json["pairs"].push_back(pair);
    }
  const std::string file = fmt::format("{}/faster-{}.json", folder, number);
  write_file(file, json.dump(2) + "\n");
  return std::filesystem::absolute(file).string();
}

Json faster(const std::string& link, const Rates& rates) {
  Json override = {{"link", link}};
  if (rates.forward > 0) override["up"] = format_number(raised(rates.forward)) + "bps";
  if (rates.backward > 0) override["down"] = format_number(raised(rates.backward)) + "bps";
  return override;
}

bool are_alike(const std::vector<std::string>& links, const std::map<std::string, Rates>& rates) {
  return std::all_of(links.begin(), links.end(), [&](const std::string& link) {
    const Rates &own = rates.at(link), &first = rates.at(links.front());
    return own.forward == first.forward && own.backward == first.backward;
  });
}

// "Oslo's uplink" of "Oslo-Oslo gateway", which a site's nodes share; other links by their names.
std::string link_in_words(const std::string& link) {
  const std::string rest = "- gateway";  // beside the site's name twice, which may have a dash itself
  if (link.size() <= rest.size()) return link;
  const std::string site = link.substr(0, (link.size() - rest.size()) / 2);
  return link == site + "-" + site + " gateway" ? site + "'s uplink" : link;
}

// "replica5-core" is node 5's own link.
std::string upgraded_link(const std::string& link) {
  if (const std::string words = link_in_words(link); words != link) return words;
  if (!is_of_node(link)) return "the link " + link;
  return "node " + link.substr(7, link.find('-') - 7) + "'s own link";
}

class Upgrades {
 public:
  Upgrades(const Evaluation& choice, const std::map<std::string, Rates>& rates, const PlanTools& tools)
      : choice_(choice), rates_(rates), tools_(tools) {}

  void add_links(const std::string& what, const std::vector<std::string>& links) {
    Case config = choice_.config;
    Json& overrides = config.resolved["network"]["overrides"];
    if (!overrides.is_array()) overrides = Json::array();
    std::vector<double> all;
    for (const std::string& link : links) {
      const Rates& rate = rates_.at(link);
      overrides.push_back(faster(link, rate));
      for (const double value : {rate.forward, rate.backward})
        if (value > 0) all.push_back(value);
    }
    add(what, std::move(config), all);
  }

  // Connections between sites that were measured.
  // `rates`: of one connection of each.
  void add_pairs(const std::string& what, const std::vector<Sites>& pairs, const std::vector<double>& rates) {
    Case config = choice_.config;
    config.resolved["network"]["topology"]["regions"]["matrix"] =
        faster_matrix(choice_, pairs, tools_.folder, static_cast<int>(cases_.size()));
    add(what, std::move(config), rates);
  }

  std::vector<Upgrade> replayed() {
    const std::vector<TrainingTime> times =
        times_of(cases_, tools_, each_of(upgrades_, &Upgrade::what), "faster links");
    for (std::size_t i = 0; i < times.size(); ++i)
      upgrades_[i].saved_s = choice_.total_s() - std::max(times[i].total_s, choice_.compute_s);
    stable_sort(upgrades_, [](const Upgrade& a, const Upgrade& b) { return a.saved_s > b.saved_s; });
    return std::move(upgrades_);
  }

 private:
  // `config`: as it says in its JSON.
  void add(const std::string& what, Case config, const std::vector<double>& rates) {
    config.network = parse_network(config.resolved.at("network"), config.workers(), config.folder);
    config.network.rank_order = choice_.config.network.rank_order;
    cases_.push_back(std::move(config));
    const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
    upgrades_.push_back({what, *least, raised(*least), *most, raised(*most), 0});
  }

  const Evaluation& choice_;
  const std::map<std::string, Rates>& rates_;
  const PlanTools& tools_;
  std::vector<Case> cases_;
  std::vector<Upgrade> upgrades_;
};

// The busiest pairs of sites one at a time, and all; `found` gets them among its links.
void add_measured(const Evaluation& choice, Sensitivity& found, Upgrades& upgrades) {
  std::vector<BusyLink> pairs = busy_pairs(choice);
  const auto is_busier = [](const BusyLink& a, const BusyLink& b) { return a.busy > b.busy; };
  stable_sort(pairs, is_busier);
  std::vector<Sites> all;
  std::vector<double> rates;
  for (const BusyLink& pair : pairs) {
    if (contains(all, pair.sites)) continue;
    const double of_one = pair.rate / choice.config.network.tcp.connections;
    rates.push_back(of_one);
    all.push_back(pair.sites);
    if (all.size() <= kUpgraded) upgrades.add_pairs("each connection " + pair.name, {pair.sites}, {of_one});
  }
  if (all.size() > 1) upgrades.add_pairs("each connection between sites", all, rates);
  found.links.insert(found.links.end(), pairs.begin(), pairs.end());
  stable_sort(found.links, is_busier);
}

}  // namespace

std::string in_words(const Upgrade& upgrade) {
  if (upgrade.from == upgrade.from_most)
    return fmt::format("{} at {} instead of {}", upgrade.what, human_rate(upgrade.to),
                       human_rate(upgrade.from));
  return fmt::format("{} five times as fast, now {} to {},", upgrade.what, human_rate(upgrade.from),
                     human_rate(upgrade.from_most));
}

std::string busiest_in_words(const Sensitivity& sensitivity) {
  if (sensitivity.links.empty()) return "no link has a rate that limits";
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, sensitivity.links.size()); ++i) {
    const BusyLink& link = sensitivity.links[i];
    words.push_back(fmt::format("{} {} ({}, full {:.0f} % of the time)", link.name,
                                link.is_forward ? "forward" : "backward", human_rate(link.rate),
                                100 * link.busy));
  }
  return "busiest links: " + join(words, "; ");
}

Sensitivity sensitivity_of(const Evaluation& choice, const PlanTools& tools) {
  Sensitivity found;
  const std::vector<NetworkLink> links = links_of(choice);
  const std::map<std::string, Rates> rates = rates_of(links);
  found.links = busy_links(choice, links);
  std::vector<std::string> of_nodes, between;
  for (const auto& [link, rate] : rates)
    if (rate.forward > 0 || rate.backward > 0) (is_of_node(link) ? of_nodes : between).push_back(link);
  Upgrades upgrades(choice, rates, tools);
  // Where all nodes' links are alike, one of them alone changes nothing.
  const bool has_single = !between.empty() || !are_alike(of_nodes, rates);
  std::vector<std::string> single;
  for (const BusyLink& link : found.links)
    if (has_single && single.size() < kUpgraded && is_of_node(link.name) == between.empty())
      add_new(link.name, single);
  for (const std::string& link : single) upgrades.add_links(upgraded_link(link), {link});
  if (between.size() > 1) upgrades.add_links("every link between sites", between);
  if (of_nodes.size() > 1) upgrades.add_links("every node's own link", of_nodes);
  if (choice.config.network.topology.name == "regions") add_measured(choice, found, upgrades);
  found.upgrades = upgrades.replayed();
  for (BusyLink& link : found.links) link.name = link_in_words(link.name);
  if (found.links.size() > kShown) found.links.resize(kShown);
  return found;
}

}  // namespace longhaul
