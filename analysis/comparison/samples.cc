#include "analysis/comparison/samples.h"

#include <fmt/core.h>

#include <map>
#include <set>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/configuration.h"
#include "analysis/comparison/draws.h"
#include "analysis/record_values.h"
#include "analysis/run_files.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostNamed = 6;
constexpr std::size_t kMostKeys = 20;  // named where none of them was meant

// The keys of `candidates` that are needed to tell the configurations apart, as far as the candidates can:
// each splits a set that those before it leave together. A configuration without an option
// "methods.LABEL.key" is of another method and has no other value of it. Same order.
std::vector<std::string> distinguishing_keys(const std::vector<const Configuration*>& configurations,
                                             const std::vector<std::string>& candidates) {
  std::vector<std::string> needed;
  std::vector<std::string> described(configurations.size());  // by the keys taken so far
  for (const std::string& key : candidates) {
    const bool of_one_method = is_method_option(key);
    std::map<std::string, std::string> first_value;
    bool splits = false;
    std::vector<std::string> longer = described;
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      const Json value = member(*configurations[i], key);
      longer[i] += "\n" + value.dump();
      if (of_one_method && value.is_null()) continue;  // not another value, but another method
      splits = splits || first_value.emplace(described[i], value.dump()).first->second != value.dump();
    }
    if (!splits) continue;
    needed.push_back(key);
    described = std::move(longer);
  }
  return needed;
}

// "network.tcp.connections = 8, replicas = 64". For a key without value stands the first of `candidates` that
// it has and those with that key lack: "network.topology.regions.matrix = aws-2022" beside a star's rate.
std::string in_words(const Configuration& configuration, const std::vector<std::string>& keys,
                     const std::vector<std::string>& candidates,
                     const std::vector<const Configuration*>& all) {
  const auto has = [](const Configuration& one, const std::string& key) {
    return !member(one, key).is_null();
  };
  std::vector<std::string> named;
  for (const std::string& key : keys) {
    if (has(configuration, key)) {
      named.push_back(key);
      continue;
    }
    const auto instead = find_if(candidates, [&](const std::string& other) {
      return has(configuration, other) &&
             none_of(all, [&](const Configuration* one) { return has(*one, key) && has(*one, other); });
    });
    if (instead != candidates.end()) add_new(*instead, named);
  }
  return join(
      each_of(named, [&](const std::string& key) { return assignment(key, member(configuration, key)); }));
}

// A done case, where it is from and what it is.
struct Sample {
  const RunDirectory* run = nullptr;
  const Json* record = nullptr;
  Configuration configuration;
  std::vector<std::string> draws;
  std::string group;
};

Sample sample_of(const RunDirectory& run, const Json& record) {
  const std::string file = run.case_folder(record) + "/case.json";
  return {&run, &record, configuration_of(run, record, read_json_or_null(file)), draws_of(file), ""};
}

// "1 case fails", "2 cases fail"
std::string cases_that(std::size_t count, const std::string& of_one, const std::string& of_many) {
  return counted(count, "case") + " " + (count == 1 ? of_one : of_many);
}

std::string case_of(const Sample& sample) {
  return sample.run->folder + "/" + sample.record->at("case").get<std::string>();
}

// Swept keys first, in the user's order: they are what a user calls the difference.
std::vector<std::string> all_keys(const std::vector<Sample>& samples) {
  std::vector<std::string> keys = {"label", "method"};
  std::set<std::string> seen = {"label", "method", "seed"};
  const auto add = [&](const std::string& key) {
    if (seen.insert(key).second) keys.push_back(key);
  };
  for (const Sample& sample : samples) {
    const Json swept = sample.record->value("swept", Json::object());
    for (const auto& [key, value] : swept.items()) add(key);
  }
  for (const Sample& sample : samples)
    for (const auto& [key, value] : sample.configuration.items()) add(key);
  return keys;
}

std::vector<Sample> done_samples(const std::vector<RunDirectory>& runs, std::vector<std::string>& notes) {
  std::vector<Sample> samples;
  std::vector<std::string> unfinished;
  for (const RunDirectory& run : runs)
    for (const Json& record : run.records) {
      if (record.value("status", Json()) == "done")
        samples.push_back(sample_of(run, record));
      else
        unfinished.push_back(run.folder + "/" + record["case"].get<std::string>());
    }
  if (!unfinished.empty())
    notes.push_back(cases_that(unfinished.size(), "failed or did not finish and is left out: ",
                               "failed or did not finish and are left out: ") +
                    named_few(unfinished, kMostNamed));
  return samples;
}

// Behind a key of the cases, which may hold one itself in a label, or else the first one.
std::size_t equals_sign(const std::string& condition, const std::vector<std::string>& keys) {
  for (std::size_t sign = condition.find('='); sign != std::string::npos;
       sign = condition.find('=', sign + 1))
    if (contains(keys, condition.substr(0, sign))) return sign;
  return condition.find('=');
}

void keep_where(const std::vector<std::string>& where, std::vector<Sample>& samples) {
  for (const std::string& condition : where) {
    const std::size_t equals = equals_sign(condition, all_keys(samples));
    if (equals == std::string::npos) throw InputError("--where", "found \"" + condition + "\"", "key=value");
    const std::string key = condition.substr(0, equals), text = condition.substr(equals + 1);
    const auto value_of = [&](const Sample& sample) { return plain(member(sample.configuration, key)); };
    const std::vector<std::string> keys = all_keys(samples);
    if (!contains(keys, key))
      throw InputError("--where", "no case has the key \"" + key + "\"", join_some(keys, kMostKeys),
                       did_you_mean(key, keys));
    std::vector<std::string> values;
    for (const Sample& sample : samples) add_new(value_of(sample), values);
    drop_if(samples, [&](const Sample& sample) { return value_of(sample) != text; });
    if (samples.empty())
      throw InputError("--where", fmt::format("no case has {} = {}", key, text),
                       fmt::format("of {}: {}", key, join(values)));
  }
}

// "diloco", and where cases with this label have several options "diloco (inner_steps = 20)".
void group_by_method(std::vector<Sample>& samples) {
  std::map<std::string, std::vector<Sample*>> by_label;
  for (Sample& sample : samples) by_label[plain(sample.configuration["label"])].push_back(&sample);
  const std::vector<std::string> keys = all_keys(samples);
  for (const auto& [label, members] : by_label) {
    const auto configurations = each_of(members, [](const Sample* one) { return &one->configuration; });
    const std::string prefix = "methods." + label + ".";
    std::vector<std::string> own = {"method"};  // two scenarios may give one label to two methods
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(own),
                 [&](const std::string& key) { return key.rfind(prefix, 0) == 0; });
    own = distinguishing_keys(configurations, own);
    for (Sample* sample : members) {
      std::vector<std::string> variant;
      for (const std::string& key : own)
        variant.push_back(assignment(is_method_option(key) ? key.substr(prefix.size()) : key,
                                     member(sample->configuration, key)));
      sample->group = variant.empty() ? label : fmt::format("{} ({})", label, join(variant));
    }
  }
}

void group_by_key(const std::string& key, std::vector<Sample>& samples, std::vector<std::string>& notes) {
  std::vector<std::string> without;
  for (Sample& sample : samples) {
    const Json value = member(sample.configuration, key);
    if (value.is_null())
      without.push_back(case_of(sample));
    else
      sample.group = plain(value);
  }
  if (without.size() == samples.size())
    throw InputError("--by", "no case has the key \"" + key + "\"",
                     "method, run, or a key of the scenario, as methods.diloco.outer_lr",
                     did_you_mean(key, all_keys(samples)));
  if (!without.empty())
    notes.push_back(cases_that(without.size(), "has", "have") + " no " + key +
                    ", left out: " + named_few(without, kMostNamed));
  drop_if(samples, [](const auto& item) { return item.group.empty(); });
}

void assign_groups(const ComparisonRequest& request, std::vector<Sample>& samples,
                   std::vector<std::string>& notes) {
  const std::string& by = request.by;
  if (by == "seed")
    throw InputError("--by", "found \"seed\"", "anything else: seeds are what is averaged over");
  if (by == "method") return group_by_method(samples);
  if (by != "run") return group_by_key(by, samples, notes);
  for (Sample& sample : samples) sample.group = sample.run->folder;
}

// What makes a row: everything but what is compared.
std::vector<std::string> row_candidates(const std::string& by, const std::vector<Sample>& samples) {
  const auto is_compared = [&](const std::string& key) {
    if (key == by || (by == "method" && is_method_option(key))) return true;
    return (by == "method" || by == "label") && (key == "label" || key == "method");
  };
  std::vector<std::string> keys = all_keys(samples);
  drop_if(keys, is_compared);
  return keys;
}

// The one value that a key has in a run, where it has one; of a method's option that of the cases of its
// label. Absent: it has several there.
std::map<std::string, std::optional<Json>> values_by_run(const std::string& key,
                                                         const std::vector<Sample>& samples) {
  std::map<std::string, std::optional<Json>> found;
  for (const Sample& sample : samples) {
    const Json value = member(sample.configuration, key);
    const auto [entry, is_new] = found.emplace(sample.group, value);
    std::optional<Json>& known = entry->second;
    if (is_new || !known || *known == value) continue;
    if (!is_method_option(key) || (!known->is_null() && !value.is_null()))
      known.reset();
    else if (known->is_null())
      known = value;
  }
  return found;
}

// Keys that have one value in each run and not the same in all: they are what tells the runs apart.
std::vector<std::string> keys_of_runs(const std::vector<std::string>& keys,
                                      const std::vector<Sample>& samples) {
  std::vector<std::string> of_runs;
  for (const std::string& key : keys) {
    const auto values = values_by_run(key, samples);
    const std::optional<Json>& first = values.begin()->second;
    const bool is_one_each = none_of(values, [](const auto& of_run) { return !of_run.second.has_value(); });
    if (is_one_each && any_of(values, [&](const auto& of_run) { return *of_run.second != *first; }))
      of_runs.push_back(key);
  }
  return of_runs;
}

std::string value_in_words(const std::optional<Json>& value) {
  return value->is_null() ? "none" : plain(*value);
}

// Runs are compared as they are: what differs between them is said, and splits no row.
void set_aside_what_runs_are(const std::vector<Sample>& samples, std::vector<std::string>& candidates,
                             std::vector<std::string>& notes) {
  const std::vector<std::string> of_runs = keys_of_runs(candidates, samples);
  if (of_runs.empty()) return;
  std::vector<std::string> words;
  for (const std::string& key : of_runs) {
    std::vector<std::string> values;
    for (const auto& [run, value] : values_by_run(key, samples))
      values.push_back(fmt::format("{} in {}", value_in_words(value), run));
    words.push_back(fmt::format("{} ({})", key, join(values)));
  }
  drop_if(candidates, [&](const std::string& key) { return contains(of_runs, key); });
  notes.push_back("The runs differ in " + named_few(words, kMostNamed) + ".");
}

// A second value of a seed is no second seed.
void add_seed(const Sample& sample, GroupSample& group, std::vector<std::string>& repeated) {
  for (const RunCase& known : group.cases)
    if (known.record->value("seed", Json()) == sample.record->value("seed", Json())) {
      repeated.push_back(case_of(sample));
      return;
    }
  group.cases.push_back({sample.run, sample.record});
  for (const std::string& draw : sample.draws) add_new(draw, group.draws);
}

GroupSample& group_in(RowSample& row, const Sample& sample) {
  for (GroupSample& group : row.groups)
    if (group.name == sample.group) return group;
  row.groups.push_back({sample.group, plain(sample.configuration["label"]), {}, {}});
  return row.groups.back();
}

Json point_of(const Configuration& configuration, const std::vector<std::string>& keys) {
  Json point = Json::object();
  for (const std::string& key : keys)
    if (const Json value = member(configuration, key); !value.is_null()) point[key] = value;
  return point;
}

void order_by_seed(Samples& samples) {
  const auto seed_of = [](const RunCase& run_case) { return run_case.record->value("seed", Json()); };
  for (RowSample& row : samples.rows)
    for (GroupSample& group : row.groups)
      stable_sort(group.cases, [&](const RunCase& x, const RunCase& y) { return seed_of(x) < seed_of(y); });
}

}  // namespace

std::optional<double> RunCase::value_at(const std::string& metric) const {
  const auto found = measured.find(metric);
  return found == measured.end() ? longhaul::value_at(*record, metric) : found->second;
}

Samples samples_of(const std::vector<RunDirectory>& runs, const ComparisonRequest& request) {
  Samples result;
  std::vector<Sample> samples = done_samples(runs, result.notes);
  keep_where(request.where, samples);
  if (samples.empty()) throw InputError("", "no case of these runs is done", "runs with finished cases");
  assign_groups(request, samples, result.notes);
  const auto configurations = each_of(samples, [](const Sample& sample) { return &sample.configuration; });
  std::vector<std::string> candidates = row_candidates(request.by, samples);
  if (request.by == "run") set_aside_what_runs_are(samples, candidates, result.notes);
  const std::vector<std::string> keys = distinguishing_keys(configurations, candidates);
  std::map<std::string, std::size_t> place;
  std::vector<std::string> repeated;
  for (const Sample& sample : samples) {
    const Json point = point_of(sample.configuration, keys);
    const auto [entry, is_new] = place.emplace(point.dump(), result.rows.size());
    if (is_new)
      result.rows.push_back({in_words(sample.configuration, keys, candidates, configurations), point, {}});
    add_seed(sample, group_in(result.rows[entry->second], sample), repeated);
  }
  if (!repeated.empty())
    result.notes.push_back(
        cases_that(repeated.size(),
                   "repeats a configuration and seed that stands before it and is left out: ",
                   "repeat a configuration and seed that stands before them and are left out: ") +
        named_few(repeated, kMostNamed));
  order_by_seed(result);
  return result;
}

}  // namespace longhaul
