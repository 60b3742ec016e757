#include "core/scenario/fault.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/random.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr double kShortest_s = 1e-3;
constexpr double kLongest_s = 1e9;  // thirty years: sums stay within 63 bits of nanoseconds

std::vector<Node> spans() {
  return {duration("at").at_least(0).means("when it begins; default the beginning of the training"),
          duration("every")
              .at_least(kShortest_s)
              .means("instead of at: mean of the exponential times between the end of one and the begin of "
                     "the next, for each replica, link or site by itself"),
          duration("for")
              .at_least(kShortest_s)
              .means("how long it lasts; default for ever. With every the mean of exponential times"),
          number("for_sigma")
              .above(0)
              .at_most(3)
              .means("with every: these times are log-normal instead, with this standard deviation of the "
                     "logarithm")};
}

FaultTimes parse_times(const Json& json, const std::string& path) {
  FaultTimes times;
  if (json.contains("at") && json.contains("every"))
    throw InputError(path, "found both at and every", "one of them",
                     "at: once; every: again and again, with draws from the seed");
  if (json.contains("every") && !json.contains("for"))
    throw InputError(path + ".for", "this key is missing", "a duration", "faults that come again must end");
  if (json.contains("for_sigma") && !json.contains("every"))
    throw InputError(path + ".for_sigma", "found without every", "every and for, or a fixed time");
  if (json.contains("at")) times.at_s = parse_duration(json["at"]);
  if (json.contains("every")) times.every_s = parse_duration(json["every"]);
  if (json.contains("for")) times.for_s = parse_duration(json["for"]);
  times.for_sigma = json.value("for_sigma", 0.);
  return times;
}

// Null where the entry names none that exists.
const FaultKind* kind_of_entry(const Json& entry) {
  for (const FaultKind& kind : fault_kinds())
    if (kind.name() == text_of(entry, "kind")) return &kind;
  return nullptr;
}

std::int64_t nanoseconds_of(double seconds) {
  return std::max<std::int64_t>(1, std::llround(std::min(seconds, kLongest_s) * 1e9));
}

}  // namespace

Node fault_options() {
  std::vector<Node> kinds;
  for (const FaultKind& kind : fault_kinds()) {
    std::vector<Node> keys = {text("kind").required().means("what goes wrong")};
    keys.insert(keys.end(), kind.options.children.begin(), kind.options.children.end());
    const std::vector<Node> times = spans();
    keys.insert(keys.end(), times.begin(), times.end());
    kinds.push_back(section(kind.name(), std::move(keys)).means(kind.options.meaning));
  }
  return list_of("faults", tagged("", "kind", std::move(kinds)))
      .means("what goes wrong, the same for every method that is compared");
}

std::vector<Fault> parse_faults(const Json& resolved, int workers) {
  std::vector<Fault> faults;
  const Json list = resolved.value("faults", Json::array());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const FaultEntry entry{list[i], element_path("faults", i), workers, resolved.value("folder", "")};
    const FaultKind* kind = kind_of_entry(entry.json);
    if (!kind) throw std::logic_error("faults are resolved before they are parsed");
    Fault fault;
    fault.number = static_cast<int>(i);
    fault.kind = kind->name();
    kind->read(entry, fault);
    if (fault.file.empty()) fault.times = parse_times(entry.json, entry.path);
    faults.push_back(std::move(fault));
  }
  return faults;
}

FaultWindows::FaultWindows(const FaultTimes& times, std::uint64_t seed, int number,
                           const std::string& subject)
    : times_(times), seed_(seed ^ fnv1a(subject)), number_(static_cast<std::uint32_t>(number)) {
  if (times_.every_s > 0) return;
  const std::int64_t begin_ns = std::llround(std::min(times_.at_s, kLongest_s) * 1e9);
  const bool ends = std::isfinite(times_.for_s);
  windows_ = {{begin_ns, ends ? begin_ns + nanoseconds_of(times_.for_s) : kNever}, {kNever, kNever}};
}

FaultWindows::FaultWindows(std::vector<Window> windows) : windows_(std::move(windows)) {
  windows_.push_back({kNever, kNever});
}

// Each time is a draw of its own, so that it does not matter when the fault is looked at.
std::int64_t FaultWindows::drawn_ns(double mean_s, double sigma) const {
  RandomStream stream(seed_, Purpose::kFaults, number_, draws_++);
  if (sigma > 0) return nanoseconds_of(stream.lognormal(std::log(mean_s) - sigma * sigma / 2, sigma));
  return nanoseconds_of(-mean_s * std::log1p(-stream.uniform()));
}

void FaultWindows::draw_until(std::int64_t time_ns) const {
  while (windows_.empty() || windows_.back().begin_ns <= time_ns) {
    const std::int64_t after_ns = windows_.empty() ? 0 : windows_.back().end_ns;
    const std::int64_t begin_ns = after_ns + drawn_ns(times_.every_s, 0);
    windows_.push_back({begin_ns, begin_ns + drawn_ns(times_.for_s, times_.for_sigma)});
  }
}

const FaultWindows::Window* FaultWindows::at(std::int64_t time_ns) const {
  draw_until(time_ns);
  const auto behind =
      std::upper_bound(windows_.begin(), windows_.end(), time_ns,
                       [](std::int64_t time, const Window& window) { return time < window.begin_ns; });
  if (behind == windows_.begin()) return nullptr;
  const Window& latest = *std::prev(behind);
  return time_ns < latest.end_ns ? &latest : nullptr;
}

std::int64_t FaultWindows::end_ns(std::int64_t time_ns) const {
  const Window* window = at(time_ns);
  return window ? window->end_ns : time_ns;
}

std::int64_t FaultWindows::next_change_ns(std::int64_t time_ns) const {
  if (const Window* window = at(time_ns)) return window->end_ns;
  const auto next =
      std::upper_bound(windows_.begin(), windows_.end(), time_ns,
                       [](std::int64_t time, const Window& window) { return time < window.begin_ns; });
  return next->begin_ns;
}

std::vector<FaultWindows::Window> FaultWindows::until(std::int64_t until_ns) const {
  draw_until(until_ns);
  std::vector<Window> begun;
  for (const Window& window : windows_)
    if (window.begin_ns < until_ns) begun.push_back(window);
  return begun;
}

Node recovery_options() {
  return section(
             "recovery",
             {choice("on_failure", {"retry", "discard", "wait"})
                  .by_default("retry")
                  .means("what becomes of an operation that lacks a member: retry: it begins anew among "
                         "those left, and who has no partner goes on alone; discard: it fails for its group, "
                         "and a step whose gradients it averages is thrown away; wait: all "
                         "wait until the member is back and has done its step again"),
              duration("detect").at_least(0).by_default("10s").means(
                  "how long it takes until the others know that a replica is gone"),
              choice("start", {"peer", "own"})
                  .by_default("peer")
                  .means("what a replica begins with that is back: the state of one who is there, drawn from "
                         "the seed, which it downloads, or its own as it left it"),
              number("state_bytes")
                  .above(0)
                  .at_most(1000)
                  .means(
                      "what a replica downloads, bytes a parameter; default 12, weights and two moments in "
                      "fp32, and 4 more for each row that the method keeps (slow weights, momentum, ...)")})
      .means("what follows when a replica is gone (faults of kind crash)");
}

RecoverySpec parse_recovery(const Json& resolved) {
  RecoverySpec spec;
  const Json json = resolved.value("recovery", Json::object());
  const std::string policy = json.value("on_failure", "retry");
  spec.on_failure = policy == "wait"      ? RecoverySpec::OnFailure::kWait
                    : policy == "discard" ? RecoverySpec::OnFailure::kDiscard
                                          : RecoverySpec::OnFailure::kRetry;
  if (json.contains("detect")) spec.detect_s = parse_duration(json["detect"]);
  spec.downloads_state = json.value("start", "peer") == "peer";
  if (json.contains("state_bytes")) spec.state_bytes = json["state_bytes"].get<double>();
  return spec;
}

}  // namespace longhaul
