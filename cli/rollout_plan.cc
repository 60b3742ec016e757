#include "cli/rollout_plan.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "analysis/comparison/front.h"
#include "analysis/record_values.h"
#include "analysis/run_files.h"
#include "analysis/runs/run_directory.h"
#include "analysis/table.h"
#include "analysis/text.h"
#include "checks/validated_scenario.h"
#include "cli/output_place.h"
#include "cli/run_outputs.h"
#include "cli/typed_command.h"
#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/printable.h"
#include "core/base/units.h"
#include "methods/common/registry.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr double kBought = 2;  // times the rate that a link has

std::string folder_for(const PlanOptions& options, const std::string& name) {
  const std::string first = options.out.empty() ? "results/" + name + "-plan" : options.out;
  std::string folder = first;
  if (options.out.empty() && !options.resume)
    for (int i = 2; fs::exists(folder); ++i) folder = fmt::format("{}-{}", first, i);
  if (options.resume || !fs::exists(folder) || (fs::is_directory(folder) && fs::is_empty(folder)))
    return folder;
  throw InputError("--output", folder + " exists and is not empty", "a new or an empty folder",
                   "--resume continues the plan that was interrupted in this folder");
}

// All cases of a scenario, replayed in a folder of the plan; of several seeds their means. Only the reader's
// own scenario is warned of.
std::vector<Json> replayed(const PlanOptions& options, const std::string& scenario,
                           const std::string& folder) {
  RunOptions run;
  run.scenario = scenario;
  run.out = folder;
  run.jobs = options.jobs > 0 ? options.jobs : 1;
  run.resume = options.resume && fs::exists(folder);
  run.quiet = options.quiet;
  run.silent = true;
  run.warns = scenario == options.plan;
  run.command = options.command;
  if (const int status = run_command(run); status == kInterrupted) throw Interrupted();
  const Json summary = read_summary(folder);
  return means_over_seeds({summary.at("cases").begin(), summary.at("cases").end()});
}

// The scenario with the values of a case instead of its sweep.
Json without_sweep(const Scenario& scenario, const Json& record) {
  Json chosen = scenario.written;
  chosen.erase("sweep");
  chosen.erase("plan");
  chosen.erase("claims");
  const std::string label = record.at("label");
  for (std::size_t i = chosen.at("methods").size(); i-- > 0;) {
    const Json& method = chosen["methods"][i];
    if (method.value("label", method.at("name").get<std::string>()) != label) chosen["methods"].erase(i);
  }
  for (const auto& [key, value] : record.at("swept").items())
    if (!is_method_option(key) || addressed_label(key, {label}) == label)
      assign_in_scenario(chosen, key, value, scenario.file);
  chosen.erase("seed");
  chosen["seeds"] = record.at("seeds");
  return chosen;
}

// Links that one buys together: access links of one role at one router, and every other link by itself. By
// the pattern that names them; those without a rate are left out.
std::map<std::string, std::vector<Link>> links_to_buy(const Topology& topology) {
  std::map<std::string, std::vector<Link>> found;
  for (const Link& link : topology.links()) {
    if (!std::isfinite(link.rate_forward) || !std::isfinite(link.rate_backward)) continue;
    const bool is_access = link.first < topology.replicas() && link.second >= topology.replicas();
    std::string role = topology.node_name(link.first);
    while (!role.empty() && role.back() >= '0' && role.back() <= '9') role.pop_back();
    found[is_access ? role + "*-" + topology.node_name(link.second) : link.name].push_back(link);
  }
  return found;
}

struct Bought {
  std::string link;
  double before = 0, after = 0;  // of the metric that is preferred
};

// What the choice would come to with each of its links twice as fast.
std::vector<Bought> with_links_bought(const PlanOptions& options, const Json& chosen,
                                      const std::string& folder, const CaseRule& rule, double before) {
  const std::string file = folder + "/links.json";
  const Scenario alone = validated_as_written(chosen, file);
  const Case& config = alone.cases.front();
  const auto links = links_to_buy(placed_topology(config, plan_of(config)));
  if (links.empty()) return {};
  Json points = Json::array();
  const Json own = member(member(chosen, "network"), "overrides");
  std::map<std::string, std::string> pattern_of;  // by the overrides that double it
  for (const auto& [pattern, together] : links) {
    Json overrides = own.is_array() ? own : Json::array();
    for (const Link& link : together)
      overrides.push_back({{"link", link.name},
                           {"up", fmt::format("{}bps", format_number(kBought * link.rate_forward))},
                           {"down", fmt::format("{}bps", format_number(kBought * link.rate_backward))}});
    pattern_of[overrides.dump()] = pattern;
    points.push_back(std::move(overrides));
  }
  Json scenario = chosen;
  scenario["sweep"] = {{"network.overrides", points}};
  write_file(file, scenario.dump(2) + "\n");
  const std::vector<Json> records = replayed(options, file, folder + "/links");
  std::vector<Bought> bought;
  for (const Json& record : records) {
    const Json& overrides = record.at("swept").at("network.overrides");
    bought.push_back(
        {pattern_of.at(overrides.dump()), before, value_at(record, rule.prefer).value_or(std::nan(""))});
  }
  stable_sort(bought, [](const Bought& one, const Bought& other) { return one.after < other.after; });
  return bought;
}

std::string shown(const std::string& metric, const Json& record) {
  return formatted(metric_named(metric), value_at(record, metric));
}

// As the columns of tables call it.
std::string in_words(const std::string& metric) {
  const std::string heading = metric_named(metric).heading;
  return heading.empty() ? metric : heading;
}

std::string case_in_words(const Json& record) {
  std::vector<std::string> words;
  for (const auto& [key, value] : record.at("swept").items())
    words.push_back(last_key(key) + " " + plain(value));
  return words.empty() ? record.at("label").get<std::string>() : join(words);
}

std::string in_words(const std::vector<Json>& records, const CaseChoice& choice, const CaseRule& rule,
                     const std::vector<Bought>& bought) {
  std::string markdown;
  const std::vector<std::string> metrics = {rule.prefer,
                                            rule.beside,
                                            "refit_time_s.mean",
                                            "idle_fraction.mean",
                                            "rollout_idle_fraction.mean",
                                            "staleness.mean",
                                            "egress_bytes"};
  std::vector<std::string> heading = {"what no other beats"}, seen;
  std::string marks = "l";
  for (const std::string& metric : metrics) {
    if (contains(seen, metric)) continue;
    seen.push_back(metric);
    heading.push_back(in_words(metric));
    marks += "r";
  }
  markdown += markdown_row(heading) + markdown_rule(marks);
  for (const std::size_t record : choice.front) {
    std::vector<std::string> cells = {case_in_words(records[record])};
    for (const std::string& metric : seen) cells.push_back(shown(metric, records[record]));
    markdown += markdown_row(cells);
  }
  if (!bought.empty()) {
    markdown +=
        "\n" + markdown_row({"a link twice as fast", in_words(rule.prefer), "saves"}) + markdown_rule("lrr");
    for (const Bought& one : bought)
      markdown += markdown_row({one.link, formatted(metric_named(rule.prefer), one.after),
                                // No −0.0 %.
                                fmt::format("{:.1f} %", 100 * (1 - one.after / one.before) + 1e-9)});
  }
  return markdown;
}

Json in_json(const std::vector<Json>& records, const CaseChoice& choice, const CaseRule& rule,
             const std::vector<Bought>& bought) {
  Json front = Json::array(), refused = Json::object(), links = Json::array();
  for (const std::size_t record : choice.front) front.push_back(records[record]);
  for (std::size_t i = 0; i < records.size(); ++i)
    if (!choice.why[i].empty()) refused[records[i].at("case").get<std::string>()] = choice.why[i];
  for (const Bought& one : bought)
    links.push_back({{"link", one.link}, {"times_the_rate", kBought}, {rule.prefer, one.after}});
  return {{"prefer", rule.prefer},   {"beside", rule.beside}, {"at_most", rule.at_most},
          {"cases", records.size()}, {"front", front},        {"refused", refused},
          {"links", links}};
}

// `folder`: is set to that of the plan.
int plan_in(const PlanOptions& options, std::string& folder) {
  const Scenario scenario = validated_scenario(options.plan, {});
  const CaseRule rule = choice_rule(scenario.resolved);
  folder = folder_for(options, scenario.name);
  made_folder("--output", folder);
  const std::vector<Json> records = replayed(options, options.plan, folder + "/run");
  const CaseChoice choice = choose(records, rule);
  if (!choice.choice) {
    std::vector<std::string> why;
    for (std::size_t i = 0; i < records.size(); ++i)
      why.push_back(records[i].at("case").get<std::string>() + ": " + join(choice.why[i], ", "));
    throw InputError({options.plan, "plan.at_most", "found bounds that no case keeps",
                      "bounds that one keeps", named_few(why, 4)});
  }
  const Json& best = records[*choice.choice];
  const Json chosen = without_sweep(scenario, best);
  write_file(folder + "/scenario.json", chosen.dump(2) + "\n");
  const std::vector<Bought> bought =
      with_links_bought(options, chosen, folder, rule, *value_at(best, rule.prefer));
  write_file(folder + "/plan.json", in_json(records, choice, rule, bought).dump(2) + "\n");
  if (!options.quiet) say(stdout, "\n" + terminal_text(in_words(records, choice, rule, bought), 115) + "\n");
  say(stdout, fmt::format("take {}: {} {}, {} {}; of {}, {} within the bounds\n", case_in_words(best),
                          in_words(rule.prefer), shown(rule.prefer, best), in_words(rule.beside),
                          shown(rule.beside, best), counted(records.size(), "case"),
                          count_if(choice.why, [](const auto& why) { return why.empty(); })));
  say(stdout, fmt::format("scenario: {0}/scenario.json\nall cases: {0}/run/report.html\n", folder));
  return kDone;
}

}  // namespace

bool is_rollout_plan(const std::string& file) {
  try {
    return read_scenario(file, {}).contains("rollouts");
  } catch (const InputError&) {
    return false;
  }
}

int plan_rollouts(const PlanOptions& options) {
  std::string folder;
  try {
    return plan_in(options, folder);
  } catch (const Interrupted&) {
    say(stderr,
        fmt::format("interrupted; to continue: {}\n", resuming_command(options.command, "--output", folder)));
    return kInterrupted;
  }
}

}  // namespace longhaul
