#include "core/scenario/faults.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/units.h"
#include "core/scenario/network_spec.h"

namespace longhaul {
namespace {

constexpr double kShortest_s = 1e-3;
constexpr double kLongest_s = 1e9;  // thirty years: sums stay within 63 bits of nanoseconds

Node kind_of_fault(const char* kind, std::vector<Node> own, const std::vector<Node>& times,
                   const char* meaning) {
  std::vector<Node> keys = {text("kind").required().means("what goes wrong")};
  keys.insert(keys.end(), own.begin(), own.end());
  keys.insert(keys.end(), times.begin(), times.end());
  return section(kind, std::move(keys)).means(meaning);
}

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

Node whose_absences() {
  return text("replicas").means("a replica, a range of them, as \"0-3\", or \"all\"; each by itself");
}
Node file_of_absences() {
  return text("file").means(
      "instead of replicas and times: a CSV file with columns replica,left_s,back_s, relative to the "
      "scenario's folder; replicas that it does not name stay");
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

LinkFault parse_link_fault(const Json& json, int number, const std::string& path) {
  LinkFault fault;
  fault.number = number;
  fault.link = json.value("link", "");
  fault.site = json.value("site", "");
  fault.rate = json.value("rate", json["kind"] == "site" ? 0. : 1.);
  fault.delay = json.value("delay", 1.);
  fault.loss = json.value("loss", 0.);
  if (json["kind"] == "link" && fault.rate == 1 && fault.delay == 1 && fault.loss == 0)
    throw InputError(path, "found neither rate nor delay nor loss", "one of them at least",
                     "rate 0 is a link that fails");
  fault.times = parse_times(json, path);
  return fault;
}

CrashFault parse_absence(const Json& json, int number, int workers, const std::string& folder,
                         const std::string& path) {
  CrashFault fault;
  fault.number = number;
  if (json["kind"] == "leave") fault.manner = CrashFault::Manner::kLeave;
  if (!json.contains("file")) {
    if (!json.contains("replicas"))
      throw InputError(path + ".replicas", "this key is missing",
                       "a replica or a range of them, as \"0-3\", or a file");
    fault.replicas = parse_replica_range(json["replicas"], workers, path + ".replicas");
    fault.times = parse_times(json, path);
    return fault;
  }
  for (const char* key : {"replicas", "at", "every", "for", "for_sigma"})
    if (json.contains(key))
      throw InputError(path, fmt::format("found both file and {}", key), "one of them",
                       "the file says who is gone, and when");
  fault.file = (std::filesystem::path(folder) / json["file"].get<std::string>()).string();
  return fault;
}

std::int64_t nanoseconds_of(double seconds) {
  return std::max<std::int64_t>(1, std::llround(std::min(seconds, kLongest_s) * 1e9));
}

}  // namespace

Node fault_options() {
  return list_of(
             "faults",
             tagged(
                 "", "kind",
                 {kind_of_fault(
                      "slow",
                      {text("replicas").required().means("a worker, a range of them, as \"0-3\", or \"all\""),
                       number("factor").above(1).at_most(1e6).required().means(
                           "its compute takes so many times as long")},
                      spans(), "a replica is slow"),
                  kind_of_fault("crash", {whose_absences(), file_of_absences()}, spans(),
                                "a replica is gone, and what it computed since its last step is lost; the "
                                "section recovery says what follows"),
                  kind_of_fault(
                      "leave", {whose_absences(), file_of_absences()}, spans(),
                      "a replica tells the others and goes behind its next step that ends with an exchange, "
                      "when that is over; at 0 s it is not there yet"),
                  kind_of_fault(
                      "link",
                      {text("link").required().means("name of a link, or a glob of names, each by itself"),
                       number("rate").at_least(0).at_most(1).means(
                           "it has so many times its rate; 0: it carries nothing; default 1"),
                       number("delay").at_least(1).at_most(1000).means(
                           "it has so many times its delay; default 1"),
                       number("loss").at_least(0).at_most(0.5).means(
                           "share of its packets that it loses, each by itself, besides network.tcp.loss; "
                           "default 0")},
                      spans(), "a link fails or is worse than it was"),
                  kind_of_fault("site",
                                {text("site").required().means(
                                    "name of a router: all its links but those to its own replicas carry "
                                    "nothing")},
                                spans(), "a site is cut off")}))
      .means("what goes wrong, the same for every method that is compared");
}

FaultsSpec parse_faults(const Json& resolved, int workers) {
  FaultsSpec spec;
  const Json list = resolved.value("faults", Json::array());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& json = list[i];
    const std::string path = element_path("faults", i);
    const int number = static_cast<int>(i);
    if (json.at("kind") == "slow")
      spec.slow.push_back({number, parse_replica_range(json.at("replicas"), workers, path + ".replicas"),
                           json.at("factor"), parse_times(json, path)});
    else if (json.at("kind") == "crash" || json.at("kind") == "leave")
      spec.crashes.push_back(parse_absence(json, number, workers, resolved.value("folder", ""), path));
    else
      spec.links.push_back(parse_link_fault(json, number, path));
  }
  return spec;
}

Node recovery_options() {
  return section(
             "recovery",
             {choice("on_failure", {"retry", "discard", "wait"})
                  .by_default("retry")
                  .means(
                      "what becomes of an operation that lacks a member: retry: it begins anew among those "
                      "who are left, and who has no partner left goes on alone; discard: it fails for all "
                      "of its group, and where it averages gradients their step is thrown away; wait: all "
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
                      "fp32, and 8 more where the method has an outer step")})
      .means("what follows when a replica is gone (faults of kind crash, leave)");
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

bool FaultWindows::is_on(std::int64_t time_ns) const {
  return at(time_ns) != nullptr;
}

std::int64_t FaultWindows::end_ns(std::int64_t time_ns) const {
  const Window* window = at(time_ns);
  return window ? window->end_ns : time_ns;
}

std::int64_t FaultWindows::next_change_ns(std::int64_t time_ns) const {
  if (const Window* window = at(time_ns)) return window->end_ns;
  const auto next = std::upper_bound(
      windows_.begin(), windows_.end(), time_ns,
      [](std::int64_t time, const Window& window_here) { return time < window_here.begin_ns; });
  return next->begin_ns;
}

std::vector<FaultWindows::Window> FaultWindows::until(std::int64_t until_ns) const {
  draw_until(until_ns);
  std::vector<Window> begun;
  for (const Window& window : windows_)
    if (window.begin_ns < until_ns) begun.push_back(window);
  return begun;
}

}  // namespace longhaul
