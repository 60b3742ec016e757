// `iperf3 --json` and `--json-stream`, tried with 3.7, 3.9, 3.12, 3.16, 3.18 and 3.22.
//
// `sender` of a sum is true where the machine that wrote the file sent. A server's file has no figure of the
// receiver where the server itself sent: 0. 3.12 does not mark --bidir in test_start; 3.7 and 3.9 write the
// sums of both directions under the same keys (json_scanner.h).
#include <fmt/core.h>

#include <algorithm>

#include "planner/measured/doubts.h"
#include "planner/measured/json_scanner.h"
#include "planner/measured/json_values.h"
#include "planner/measured/readers.h"
#include "planner/measured/text.h"

namespace longhaul::measured::iperf3 {
namespace {

constexpr double kReached = 0.9;  // of the rate that -b allowed

// The tests of --json-stream, whose events come one by one; other documents as they are.
std::vector<Json> joined_events(const std::string& file, const Documents& documents) {
  std::vector<Json> tests;
  for (const Json& document : documents) {
    const Json &event = get(document, "event"), &data = get(document, "data");
    if (event.is_null())
      tests.push_back(document);
    else if (event == "start")
      tests.push_back(Json{{"start", data}, {"intervals", Json::array()}});
    else if (event == "error" && (tests.empty() || has(tests.back(), "end")))
      tests.push_back(Json{{"error", data}});
    else if (!tests.empty() && event == "interval") {
      Json& intervals = tests.back()["intervals"];
      if (!intervals.is_null() && !intervals.is_array()) throw Damaged("intervals is no list");
      intervals.push_back(data);
    } else if (!tests.empty() && (event == "end" || event == "error"))
      tests.back()[event.get<std::string>()] = data;
  }
  for (const Json& test : tests)  // 3.9 says nothing where the server refused
    if (has(test, "start") && !is_true(get(test, "end")) && !is_true(get(test, "error")))
      throw of_file(file,
                    "has no results (end): the test was cut off, or did not begin; measure again, or leave "
                    "the file out");
  return tests;
}

const Json& cookie_of(const Json& test) {
  static const Json none = Json::object();
  return get(has(test, "start") ? get(test, "start") : none, "cookie");
}

// Without repeats: 3.17 prints the same document twice (esnet/iperf, issue 1716).
std::vector<Json> different(const std::vector<Json>& tests) {
  std::vector<Json> kept;
  for (const Json& test : tests) {
    const Json& cookie = cookie_of(test);
    const bool is_repeat = std::any_of(kept.begin(), kept.end(), [&](const Json& one) {
      return one == test || (is_true(cookie) && cookie_of(one) == cookie);
    });
    if (!is_repeat) kept.push_back(test);
  }
  return kept;
}

// "" where there is none, as in {"error": {}} of some events.
std::string error_of(const Json& test) {
  const Json& error = get(test, "error");
  return is_true(error) ? std::string(strip(plain_text(error))) : "";
}

std::vector<std::string> growth_note(const std::string& file, const Json& test, const std::string& suffix,
                                     double rate) {
  static const Json none = Json::object();
  std::vector<Json> rates;
  for (const Json& interval : elements(get(test, "intervals"))) {
    const Json& sum = first_true(get(interval, "sum" + suffix), none);
    if (!is_true(get(sum, "omitted")) && (!has(sum, "seconds") || number(get(sum, "seconds")) > 0.5))
      rates.push_back(has(sum, "bits_per_second") ? get(sum, "bits_per_second") : Json(0));
  }
  if (rates.size() < 4) return {};
  double later = 0;
  const std::size_t half = rates.size() / 2;
  for (std::size_t i = half; i < rates.size(); ++i) later += number(rates[i]);
  later /= static_cast<double>(rates.size() - half);
  if (later < kStillGrowing * rate) return {};
  return {
      fmt::format("{}: {} Mb/s in the whole test, {} in its second half: the connection was still finding "
                  "its pace; measure "
                  "longer, or leave out the beginning (iperf3 -O 5 -t 30)",
                  file, megabits(rate), megabits(later))};
}

// Why the path may carry more than `rate`; "" where nothing says so.
std::string limit_of(const Json& start, const Json& test, long long streams, double rate) {
  const auto held = [&](const char* option, const Json& each) -> std::string {
    const double most = number_or_zero(each) * static_cast<double>(streams);
    if (!is_true(each) || !(rate >= kReached * most)) return "";
    return fmt::format("iperf3 was held to {} Mb/s ({})", megabits(most), option);
  };
  const std::string limit = held("-b", first_true(get(test, "target_bitrate"), get(start, "target_bitrate")));
  return limit.empty() ? held("--fq-rate", first_true(get(test, "fqrate"), get(start, "fq_rate"))) : limit;
}

struct Direction {
  Json sent, received;  // sums
  std::string suffix;   // of their keys
  bool sends = false;   // the machine that wrote the file
  bool is_server = false;
};

// Whether the machine that wrote the file sent; null where no stream says so.
Json first_sender(const Json& end) {
  for (const Json& stream : elements(get(end, "streams")))
    if (get(stream, "sender").is_object()) return get(get(stream, "sender"), "sender");
  return nullptr;
}

std::vector<Direction> directions(const std::string& file, const Json& start, const Json& end) {
  static const Json none = Json::object();
  const bool reverse = is_true(get(need(start, "test_start"), "reverse"));
  const Json by_streams = first_sender(end);
  const bool is_both_ways = has(end, (std::string("sum_received") + kSecond).c_str());
  std::vector<Direction> found;
  for (const std::string& suffix :
       is_both_ways ? std::vector<std::string>{"", kSecond} : std::vector<std::string>{""}) {
    const Json &sent = first_true(get(end, "sum_sent" + suffix), none),
               &received = get(end, "sum_received" + suffix);
    if (!received.is_object())
      throw of_file(
          file,
          fmt::format("has no end.sum_received{}: the test did not end; measure again, or leave the file out",
                      suffix));
    const bool is_back = reverse || !suffix.empty();
    const Json& by_sent = get(sent, "sender");
    Json sends = has(received, "sender") ? get(received, "sender") : by_sent;
    if (sends.is_null() && !is_both_ways) sends = by_streams;
    if (sends.is_null()) sends = has(start, "accepted_connection") == is_back;
    found.push_back({sent, received, suffix, is_true(sends), is_true(sends) == is_back});
  }
  return found;
}

// Of streams that the other side sent there is no round trip: 0, or with --bidir a few microseconds.
std::optional<double> shortest_round_trip(const Json& end) {
  std::optional<double> shortest;
  for (const Json& stream : elements(get(end, "streams"))) {
    const Json& sender = get(stream, "sender");
    if (!sender.is_object() || (has(sender, "sender") && !is_true(get(sender, "sender")))) continue;
    const double microseconds = number_or_zero(get(sender, "min_rtt"));
    if (microseconds > 0) shortest = std::min(shortest.value_or(microseconds), microseconds);
  }
  if (shortest) *shortest *= 1e-6;
  return shortest;
}

std::optional<double> if_true(const Json& value) {
  return is_true(value) ? std::optional(number(value)) : std::nullopt;
}

// Bytes that -n or -k allowed.
std::optional<double> amount_of(const Json& test) {
  if (is_true(get(test, "bytes"))) return number(get(test, "bytes"));
  const double blocks = number_or_zero(get(test, "blocks"));
  const double bytes = blocks == 0 ? 0 : blocks * number_or_zero(get(test, "blksize"));
  return bytes != 0 ? std::optional(bytes) : std::nullopt;
}

long long streams_in(const Json& written) {
  constexpr long long kMost = 1000000;
  const long long streams = is_true(written) ? integer_in(written) : 1;
  if (streams < 1 || streams > kMost) throw Damaged(fmt::format("{} streams", streams));
  return streams;
}

class Test {
 public:
  Test(const std::string& file, const Json& run)
      : file_(file),
        run_(run),
        start_(need(run, "start")),
        end_(is_true(get(run, "end")) ? get(run, "end") : Json::object()) {}

  std::vector<Measured> read(const Sites& sites) {
    test_ = get(start_, "test_start");
    const std::vector<Json>& connections = elements(get(start_, "connected"));
    const Json connected = connections.empty() ? Json() : connections[0];
    if (!test_.is_object() || !connected.is_object())
      throw of_file(file_, "iperf3 did not begin the test; measure again, or leave the file out");
    check_protocol();
    const std::string there = host_in("connecting_to"), client = host_in("accepted_connection");
    const auto [local, remote] = sites.ends(file_, {text(get(connected, "local_host"))},
                                            {text(get(connected, "remote_host")), there, client});
    streams_ = streams_in(get(test_, "num_streams"));
    std::vector<Measured> found;
    for (const Direction& way : directions(file_, start_, end_))
      found.push_back(measured(way, local, remote));
    return found;
  }

 private:
  void check_protocol() const {
    const Json protocol = has(test_, "protocol") ? get(test_, "protocol") : Json("TCP");
    if (protocol == "TCP") return;
    throw of_file(
        file_,
        fmt::format(
            "is of {}{}", plain_text(protocol),
            protocol == "UDP" ? ", which sends at the rate that -b says whatever the path carries" : ""),
        "TCP, as iperf3 measures without -u and --sctp");
  }

  std::string host_in(const char* key) const {
    return has(start_, key) ? text(get(get(start_, key), "host")) : "";
  }

  Measured measured(const Direction& way, const std::string& local, const std::string& remote) const {
    Measured one{file_, pair_of(local, remote)};
    one.sender = way.sends ? local : remote;
    const double received = number_or_zero(get(way.received, "bits_per_second"));
    const double sent = is_true(get(way.sent, "bits_per_second")) && way.is_server
                            ? number(get(way.sent, "bits_per_second"))
                            : 0;
    double rate = received;
    if (rate <= 0 && way.is_server && way.sends) {
      rate = sent;
      one.notes.push_back(file_ +
                          ": is the server's file of a test in which the server sent, and has no figure of "
                          "the receiver; what "
                          "was sent is taken: the client's file has what arrived");
    }
    if (rate <= 0)
      throw of_file(
          file_,
          "nothing arrived, or the figure of the receiver is missing; measure again, or leave the file out");
    for (const std::string& note : notes_on(way, rate)) one.notes.push_back(note);
    one.together_bps = rate;
    one.streams = streams_;
    if (way.sends) one.rtt_s = shortest_round_trip(end_);
    one.is_loaded = true;
    one.limit = limit_of(start_, test_, streams_, rate);
    one.both_ways = has(end_, (std::string("sum_received") + kSecond).c_str());
    if (is_true(get(start_, "cookie"))) one.test = plain_text(get(start_, "cookie"));
    one.as_sent = way.is_server && rate == sent;
    return one;
  }

  std::vector<std::string> notes_on(const Direction& way, double rate) const {
    const std::optional<double> amount = amount_of(test_);
    const Json& seconds = first_true(first_true(get(way.received, "seconds"), get(way.sent, "seconds")),
                                     get(test_, "duration"));
    refuse_short(file_, if_true(seconds), amount, is_true(get(test_, "bytes")) ? "-n" : "-k");
    std::vector<std::string> notes = short_note(file_, if_true(seconds), amount.has_value());
    if (notes.empty()) notes = growth_note(file_, run_, way.suffix, rate);
    if (const std::optional<double> buffer = if_true(get(start_, "sock_bufsize")))
      notes.push_back(fmt::format(
          "{}: ran with a buffer of {:.6g} KiB (-w): with the kernel's own a connection may carry more",
          file_, *buffer / 1024));
    return notes;
  }

  const std::string& file_;
  const Json& run_;
  const Json &start_, end_;
  Json test_;  // test_start
  long long streams_ = 1;
};

}  // namespace

bool is_document(const Json& document) {
  if (!document.is_object()) return false;
  const Json& event = get(document, "event");
  if (get(document, "start").is_object() || event == "start" || event == "interval" || event == "end" ||
      event == "error")
    return true;
  return (document.contains("error") || document.contains("end")) && !document.contains("report");
}

// Each test of the file. One that failed counts only where all did.
std::vector<Measured> read_documents(const std::string& file, const Documents& documents,
                                     const Sites& sites) {
  const std::vector<Json> tests = different(joined_events(file, documents));
  if (tests.empty())
    throw of_file(file, "has no event \"start\", which says what was tested",
                  "all that --json-stream printed");
  std::vector<std::string> failed;
  std::vector<const Json*> right;
  for (const Json& test : tests) {
    const std::string error = error_of(test);
    if (!error.empty())
      failed.push_back(error);
    else if (has(test, "start"))
      right.push_back(&test);
  }
  if (right.empty())
    throw of_file(file, fmt::format("iperf3 ended with \"{}\": measure again, or leave the file out",
                                    failed.empty() ? "no test" : failed[0]));
  std::vector<Measured> found;
  for (const Json* test : right)
    for (Measured& one : Test(file, *test).read(sites)) found.push_back(std::move(one));
  if (!failed.empty())
    found[0].notes.push_back(fmt::format("{}: {} of {} tests ended with an error (\"{}\") and are left out",
                                         file, failed.size(), tests.size(), failed[0]));
  return found;
}

}  // namespace longhaul::measured::iperf3
