#include "fitting/observations.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/limits.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "core/plan/operations.h"

namespace longhaul {
namespace {

constexpr double kMedian = 50;

const std::map<std::string, OperationKind>& replayed_operations() {
  static const std::map<std::string, OperationKind> operations = {
      {"all-reduce", OperationKind::kAllReduce},
      {"all-gather", OperationKind::kAllGather},
      {"reduce-scatter", OperationKind::kReduceScatter}};
  return operations;
}

constexpr double kMostSeconds = 366. * 86400;  // a year

double seconds_at(const Json& of, const std::string& key, const std::string& path) {
  const Json value = member(of, key);
  if (!value.is_number() || !(value.get<double>() > 0) || value.get<double>() > kMostSeconds)
    throw InputError(child_path(path, key), "found " + (value.is_null() ? "nothing" : value.dump()),
                     "a number above 0, at most a year");
  return value;
}

// A number that may be missing.
std::optional<double> seconds_or_none(const Json& of, const std::string& key, const std::string& path,
                                      double most) {
  const Json value = member(of, key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > most)
    throw InputError(child_path(path, key), "found " + value.dump(),
                     fmt::format("a number of at least 0 and at most {}", format_number(most)));
  return value.get<double>();
}

std::int64_t count_at(const Json& of, const std::string& key, const std::string& path, std::int64_t least,
                      std::int64_t most) {
  const Json value = member(of, key);
  const bool is_integer = value.is_number_integer() && !(value.is_number_unsigned() &&
                                                         value.get<std::uint64_t>() > std::uint64_t{1} << 62);
  if (!is_integer || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    throw InputError(child_path(path, key), "found " + (value.is_null() ? "nothing" : value.dump()),
                     fmt::format("an integer of at least {} and at most {}", least, most));
  return value;
}

bool flag_at(const Json& of, const std::string& key, const std::string& path, bool otherwise) {
  const Json value = member(of, key);
  if (value.is_null()) return otherwise;
  if (!value.is_boolean()) throw InputError(child_path(path, key), "found " + value.dump(), "true or false");
  return value;
}

const Json& list_at(const Json& document, const std::string& key) {
  static const Json none = Json::array();
  if (!document.contains(key)) return none;
  const Json& list = document.at(key);
  if (!list.is_array()) throw InputError(key, "found " + kind_of(list), "a list");
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!list[i].is_object())
      throw InputError(element_path(key, i), "found " + kind_of(list[i]), "an object");
  return list;
}

constexpr std::int64_t kMostCount = 1'000'000'000;

double count_of_mean(const Json& of, const std::string& path) {
  return of.contains("count") ? static_cast<double>(count_at(of, "count", path, 1, kMostCount)) : 1;
}

// Of `bytes` what each of a burst has: empty where all are alike, or it is not said.
std::vector<std::int64_t> unlike_parts(const Json& one, const std::string& path, std::int64_t bytes,
                                       int operations) {
  const Json said = member(one, "parts");
  if (said.is_null()) return {};
  std::vector<std::int64_t> parts;
  std::int64_t left = bytes;
  for (const Json& part : said.is_array() ? said : Json::array()) {
    if (!part.is_number_integer() || part < 1 || part > left) break;
    parts.push_back(part);
    left -= parts.back();
  }
  if (!said.is_array() || parts.size() != said.size() || parts.size() != as_index(operations) || left != 0)
    throw InputError(child_path(path, "parts"), "found " + said.dump(),
                     fmt::format("{} numbers of bytes that add up to {}", operations, bytes));
  if (none_of(parts, [&](std::int64_t part) { return part != parts[0]; })) parts.clear();
  return parts;
}

// The places of `ranks` in their order, where they are said.
std::vector<std::size_t> order_of_ranks(const Json& one, const std::string& path, int members) {
  std::vector<std::size_t> order(as_index(members));
  std::iota(order.begin(), order.end(), 0);
  const Json ranks = member(one, "ranks");
  if (ranks.is_null()) return order;
  std::set<std::int64_t> different;
  for (const Json& rank : ranks.is_array() ? ranks : Json::array())
    if (rank.is_number_integer() && rank >= 0) different.insert(rank.get<std::int64_t>());
  if (!ranks.is_array() || different.size() != ranks.size() || ranks.size() > as_index(members))
    throw InputError(child_path(path, "ranks"), "found " + ranks.dump(),
                     fmt::format("at most {} different ranks", members));
  if (ranks.size() == order.size())
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
  return order;
}

// What is no key of an exchange, a step or a row has been mistyped, or is the writer's own: that is said.
class UnreadKeys {
 public:
  UnreadKeys(std::string what, std::vector<std::string> known)
      : what_(std::move(what)), known_(std::move(known)) {}

  void look_at(const Json& one) {
    for (const auto& [key, value] : one.items())
      if (!contains(known_, key)) ++unread_[key];
  }

  void say(std::vector<std::string>& notes) const {
    for (const auto& [key, count] : unread_) {
      const std::string meant = did_you_mean(key, known_);
      notes.push_back(fmt::format("{} of {} is not read{}", key, counted(count, what_),
                                  meant.empty() ? "" : ": " + meant));
    }
  }

 private:
  const std::string what_;
  const std::vector<std::string> known_;
  std::map<std::string, std::size_t> unread_;
};

// Equal exchanges, as they are read.
class Kinds {
 public:
  void add(const Json& one, const std::string& path) {
    const std::string operation = text_of(one, "operation");
    const auto known = replayed_operations().find(operation);
    if (known == replayed_operations().end()) {
      ++left_out_["of " + operation + ", which cannot be replayed by itself"];
      return;
    }
    if (flag_at(one, "includes_wait", path, false)) {
      ++left_out_["their times may hold waits" +
                  (one.contains("why") ? " (" + text_of(one, "why") + ")" : "")];
      return;
    }
    if (!one.contains("seconds") || !one.contains("bytes")) {
      ++left_out_[one.contains("seconds") ? "of unknown size" : "without a time"];
      return;
    }
    const double took_s = seconds_at(one, "seconds", path);
    constexpr std::int64_t kMostBytes = 1'000'000'000'000;
    const std::int64_t bytes = count_at(one, "bytes", path, 0, kMostBytes);
    const auto members = static_cast<int>(count_at(one, "members", path, 2, kMostReplicas)),
               operations = one.contains("operations")
                                ? static_cast<int>(count_at(one, "operations", path, 1, kMostBuckets))
                                : 1;
    if (bytes == 0) {
      ++left_out_["without bytes"];
      return;
    }
    const bool is_fitted = flag_at(one, "fit", path, true);
    Kind& kind = kinds_[{operation, members, bytes, operations, unlike_parts(one, path, bytes, operations),
                         !is_fitted}];
    kind.times.push_back({took_s, count_of_mean(one, path)});
    if (const std::optional<double> gap_s = gap_before(one, path, members, took_s))
      kind.gaps_s.push_back(*gap_s);
    add_begins(one, path, members, kind);
    if (const Json library = member(one, "library"); library.is_string()) libraries_.insert(library);
  }

  std::vector<ObservedExchange> exchanges() const {
    std::vector<ObservedExchange> all;
    for (const auto& [key, kind] : kinds_) {
      ObservedExchange one;
      std::tie(one.operation, one.members, one.bytes, one.operations, one.parts, std::ignore) = key;
      one.kind = replayed_operations().at(one.operation);
      one.is_fitted = !std::get<5>(key);
      one.times = kind.times;
      if (!kind.gaps_s.empty()) one.gap_s = std::max(0., percentile(kind.gaps_s, kMedian));
      for (const std::vector<double>& of_member : kind.begins_s)
        one.begins_s.push_back(percentile(of_member, kMedian));
      all.push_back(one);
    }
    return all;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (const auto& [why, count] : left_out_)
      notes.push_back(fmt::format("{} left out: {}", counted(count, "exchange"), why));
    return notes;
  }

  std::vector<std::string> libraries() const { return {libraries_.begin(), libraries_.end()}; }

 private:
  struct Kind {
    std::vector<ObservedTime> times;
    std::vector<double> gaps_s;
    std::vector<std::vector<double>> begins_s;  // by member
  };

  // From the end of the exchange before it, of as many members, to where the last one began. In files they
  // stand in the order of time.
  std::optional<double> gap_before(const Json& one, const std::string& path, int members, double took_s) {
    constexpr double kMostMoment = 1e11;  // seconds since 1970
    if (const std::optional<double> gap_s = seconds_or_none(one, "gap_s", path, kMostSeconds)) return gap_s;
    const std::optional<double> begin_s = seconds_or_none(one, "time_s", path, kMostMoment);
    if (!begin_s) return std::nullopt;
    const auto before = ends_s_.find(members);
    std::optional<double> gap_s;
    if (before != ends_s_.end()) gap_s = std::min(*begin_s - before->second, kMostSeconds);
    ends_s_[members] = *begin_s + took_s;
    return gap_s;
  }

  static void add_begins(const Json& one, const std::string& path, int members, Kind& kind) {
    const std::vector<std::size_t> order = order_of_ranks(one, path, members);
    const Json waits = member(one, "waits_s");
    if (waits.is_null()) return;
    if (!waits.is_array() || waits.size() != as_index(members))
      throw InputError(child_path(path, "waits_s"), "found " + waits.dump(),
                       fmt::format("a list of {} numbers, one a member", members));
    std::vector<double> waits_s;
    for (const Json& wait : waits) {
      if (!wait.is_number() || !(wait.get<double>() >= 0) || wait.get<double>() > kMostSeconds)
        throw InputError(child_path(path, "waits_s"), "found " + wait.dump(),
                         "numbers of at least 0, of seconds");
      waits_s.push_back(wait);
    }
    const double longest = *std::max_element(waits_s.begin(), waits_s.end());
    kind.begins_s.resize(as_index(members));
    for (std::size_t i = 0; i < order.size(); ++i) kind.begins_s[i].push_back(longest - waits_s[order[i]]);
  }

  std::map<std::tuple<std::string, int, std::int64_t, int, std::vector<std::int64_t>, bool>, Kind> kinds_;
  std::map<int, double> ends_s_;  // by members, of the last exchange
  std::map<std::string, std::size_t> left_out_;
  std::set<std::string> libraries_;
};

ObservedRow row_of(const Json& one, const std::string& path) {
  ObservedRow row;
  row.metric = text_of(one, "metric");
  if (!one.contains("metric"))
    throw InputError(child_path(path, "metric"), "found nothing", "a number of a case record, as step_time_s",
                     "docs/reference/formats/summary.md has them");
  row.what = one.contains("what") ? text_of(one, "what") : row.metric;
  if (one.contains("of")) row.of = text_of(one, "of");
  row.value = seconds_at(one, "value", path);
  row.where = one.value("where", Json::object());
  if (!row.where.is_object())
    throw InputError(child_path(path, "where"), "found " + row.where.dump(), "an object");
  row.is_fitted = flag_at(one, "fit", path, true);
  row.path = path;
  return row;
}

std::string content_of(const Json& json) {
  return hex64(fnv1a(json.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

// What ranks computed: their steps without what the same file says of their exchanges. The first step of a
// file stands apart (memory, caches, connections): the reader has left it out.
class Steps {
 public:
  void add(const Json& step, const std::string& path) {
    const double count = count_of_mean(step, path);
    if (step.contains("compute_s")) {
      steps_.push_back({seconds_at(step, "compute_s", path), count});
      return;
    }
    if (!step.contains("seconds")) {
      ++left_out_["without a time"];
      return;
    }
    const double seconds = seconds_at(step, "seconds", path);
    const std::optional<double> exchanging_s = seconds_or_none(step, "exchanging_s", path, kMostSeconds);
    const double left_s = seconds - exchanging_s.value_or(0);
    if (left_s <= 0) {
      ++left_out_["all of it with an exchange under way"];
      return;
    }
    if (!exchanging_s) ++whole_;
    steps_.push_back({left_s, count});
  }

  const std::vector<ObservedTime>& steps() const { return steps_; }

  void say(std::vector<std::string>& notes) const {
    for (const auto& [why, count] : left_out_)
      notes.push_back(fmt::format("{} left out: {}", counted(count, "step"), why));
    if (whole_ > 0)
      notes.push_back(
          fmt::format("{} of {} do not say how much of them was exchanging: all of it counts as computing",
                      whole_, counted(steps_.size(), "step")));
  }

 private:
  std::vector<ObservedTime> steps_;
  std::map<std::string, std::size_t> left_out_;
  std::size_t whole_ = 0;
};

}  // namespace

std::string ObservedExchange::name() const {
  return (operations > 1 ? fmt::format("{} {}s at once, {} in all,", operations, operation,
                                       human_bytes(static_cast<double>(bytes)))
                         : fmt::format("{} of {}", operation, human_bytes(static_cast<double>(bytes)))) +
         fmt::format(" among {}", members);
}

std::size_t Observations::fitted() const {
  std::size_t count = 0;
  for (const ObservedExchange& exchange : exchanges)
    if (exchange.is_fitted) count += exchange.times.size();
  return count + as_index(count_if(rows, [](const ObservedRow& row) { return row.is_fitted; }));
}

Observations observations_of(const Json& document, const std::string& file) {
  if (!document.is_object() ||
      !(document.contains("exchanges") || document.contains("rows") || document.contains("steps")))
    throw InputError("", "found no observations", "an object with exchanges, steps or rows",
                     "python -m longhaul.observed FILES -o observed.json makes one from logs and traces");
  if (document.contains("observed") && document["observed"] != 1)
    throw InputError("observed", "found " + document["observed"].dump(), "1, the version of the document");
  Observations observations;
  observations.file = file;
  observations.content = content_of(document);
  Kinds kinds;
  UnreadKeys of_exchanges("exchange", {"operation",     "bytes",  "members",    "seconds", "count",
                                       "includes_wait", "why",    "operations", "parts",   "library",
                                       "step",          "ranks",  "waits_s",    "group",   "least_span_s",
                                       "call",          "time_s", "from",       "gap_s",   "fit"});
  const Json& exchanges = list_at(document, "exchanges");
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    kinds.add(exchanges[i], element_path("exchanges", i));
    of_exchanges.look_at(exchanges[i]);
  }
  observations.exchanges = kinds.exchanges();
  observations.notes = kinds.notes();
  observations.libraries = kinds.libraries();
  of_exchanges.say(observations.notes);
  UnreadKeys of_rows("row", {"what", "metric", "of", "where", "value", "fit", "source"});
  const Json& rows = list_at(document, "rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    observations.rows.push_back(row_of(rows[i], element_path("rows", i)));
    of_rows.look_at(rows[i]);
  }
  of_rows.say(observations.notes);
  UnreadKeys of_steps("step", {"rank", "step", "seconds", "count", "exchanging_s", "compute_s", "from"});
  Steps computed;
  const Json& steps = list_at(document, "steps");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    computed.add(steps[i], element_path("steps", i));
    of_steps.look_at(steps[i]);
  }
  observations.steps = computed.steps();
  computed.say(observations.notes);
  of_steps.say(observations.notes);
  return observations;
}

Observations read_observations(const std::string& file) {
  const std::optional<std::string> text = read_file(file);
  if (!text)
    throw InputError({file, "", why_unreadable(file), "what python -m longhaul.observed writes", ""});
  try {
    return observations_of(parse_json(*text), file);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
}

Observations observations_of_figures(const Json& scenario, const std::vector<int>& fitted) {
  const Json figures = member(member(scenario, "validation"), "figures");
  if (!figures.is_array())
    throw InputError("OBSERVED", "found none", "a file of observations",
                     "without one the scenario's section `validation` is fitted, which this one lacks");
  Observations observations;
  observations.file = "validation.figures";
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const std::string path = element_path("validation.figures", i);
    if (!figures[i].contains("metric")) {
      observations.notes.push_back("left out, a ratio: " + text_of(figures[i], "what"));
      continue;
    }
    ObservedRow row = row_of(figures[i], path);
    const Json assumed = member(figures[i], "assumed");
    if (assumed.is_object())
      for (const auto& [key, value] : assumed.items())
        if (!row.where.contains(key)) row.where[key] = value;
    row.is_fitted = fitted.empty() || contains(fitted, static_cast<int>(i) + 1);
    row.content = content_of(figures[i]);
    if (row.is_fitted) observations.content += (observations.content.empty() ? "" : " ") + row.content;
    observations.rows.push_back(row);
  }
  for (const int number : fitted)
    if (number < 1 || as_index(number) > figures.size())
      throw InputError("--on", fmt::format("found {}", number), fmt::format("1 … {}", figures.size()));
  return observations;
}

}  // namespace longhaul
