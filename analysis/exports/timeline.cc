#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "analysis/exchange_table.h"
#include "analysis/exports/exports.h"
#include "analysis/exports/timeline_writer.h"
#include "core/base/csv.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

const std::vector<std::string> kStepColumns = {"step", "replica", "computed_s", "done_s"};
constexpr std::int64_t kNoStep = INT64_MAX;

// What is drawn, decided from counts before anything is written.
struct Extent {
  std::int64_t last_step = 0;  // the last step drawn
  std::int64_t outer_steps = 0, all_outer_steps = 0;
  std::int64_t replicas = 0;
  bool sampled = false;
};

struct StepCount {
  std::int64_t slices = 0;
  bool outer = false;
};

std::map<std::int64_t, StepCount> count_slices(const std::string& folder, Extent& extent) {
  std::map<std::int64_t, StepCount> counts;
  for (CsvStream rows(folder + "/steps.csv", kStepColumns); rows.next();) {
    ++counts[rows.step(0)].slices;
    extent.replicas = std::max(extent.replicas, rows.worker(1) + 1);
  }
  for (ExchangeTable rows(folder); rows.next();) {
    const bool blocks = !rows.overlaps();
    StepCount& count = counts[rows.step()];
    count.slices += blocks ? 2 : 1;
    count.outer = count.outer || blocks;
    extent.replicas = std::max(extent.replicas, rows.replica() + 1);
  }
  return counts;
}

Extent extent_of(const std::string& folder, std::int64_t maximum) {
  Extent extent;
  std::int64_t slices = 0, outer_steps = 0;
  const auto counts = count_slices(folder, extent);
  const bool has_outer =
      std::any_of(counts.begin(), counts.end(), [](const auto& entry) { return entry.second.outer; });
  for (const auto& [step, count] : counts) {
    slices += count.slices;
    outer_steps += count.outer;
    // The drawing may end after an outer step, or anywhere where there are none; it holds at least one.
    if (count.outer != has_outer || (slices > maximum && extent.last_step > 0)) continue;
    extent.last_step = step;
    extent.outer_steps = outer_steps;
  }
  extent.all_outer_steps = outer_steps;
  extent.sampled = slices > maximum;
  if (!extent.sampled && !counts.empty()) extent.last_step = counts.rbegin()->first;
  return extent;
}

// A pass of a stage over a micro-batch.
struct Pass {
  std::string name;
  Nanoseconds begin = 0, end = 0;
};

std::string at_step(std::int64_t step) {
  return fmt::format(R"("step":{})", step);
}

// By step and worker, in the order of their times; none without stages, and none behind the first ones that
// the replay kept.
using Passes = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Pass>>;

Passes read_passes(const std::string& folder) {
  Passes passes;
  const std::string file = folder + "/tasks.csv";
  if (!std::filesystem::exists(file)) return passes;
  for (CsvStream rows(file, {"step", "replica", "part", "microbatch", "pass", "begin_s", "end_s"});
       rows.next();)
    passes[{rows.step(0), rows.worker(1)}].push_back(
        {fmt::format("{} {}, part {}", rows.text(4), rows.integer(3), rows.integer(2)),
         nanoseconds(rows.number(5)), nanoseconds(rows.number(6))});
  return passes;
}

std::string sampled_in_words(const Extent& extent) {
  return fmt::format(
      "only the first {} of {} outer steps (up to step {}); the whole replay would be too many slices",
      extent.outer_steps, extent.all_outer_steps, extent.last_step);
}

// Walks steps.csv and exchanges.csv side by side, one step at a time.
class TimelineBuilder {
 public:
  TimelineBuilder(const std::string& folder, const Extent& extent, TimelineWriter& out)
      : folder_(folder),
        steps_(folder + "/steps.csv", kStepColumns),
        exchanges_(folder),
        passes_(read_passes(folder)),
        replicas_(extent.replicas),
        out_(out) {
    advance_steps();
    advance_exchanges();
  }

  void draw_until(std::int64_t last_step) {
    for (std::int64_t step; (step = std::min(next_step_, next_exchange_)) <= last_step && step != kNoStep;) {
      for (; next_step_ == step; advance_steps()) draw_compute(step);
      for (; next_exchange_ == step; advance_exchanges()) draw_exchange(step);
      for (std::size_t r = 0; r < replicas_.size(); ++r) end_step(r, step);
    }
  }

 private:
  struct Replica {
    Nanoseconds clock = 0;       // up to here its lanes are drawn
    Nanoseconds done = 0;        // when it goes on after the current step, as steps.csv says
    Nanoseconds overlapped = 0;  // the end of the last overlapped exchange
    std::int64_t computed = 0;   // its last step whose compute is drawn
  };

  void advance_steps() { go_to(steps_.next() ? steps_.integer(0) : kNoStep, next_step_); }
  void advance_exchanges() { go_to(exchanges_.next() ? exchanges_.step() : kNoStep, next_exchange_); }
  void go_to(std::int64_t step, std::int64_t& next) {
    const std::int64_t former = next;
    next = step;
    if (next < former) throw RunError(folder_ + ": the steps in steps.csv or exchanges.csv are not in order");
  }

  void compute_until(std::int64_t r, std::int64_t step, Nanoseconds end) {
    Replica& replica = replicas_[r];
    if (replica.computed >= step) return;
    if (const auto found = passes_.find({step, r}); found != passes_.end()) draw_passes(r, found->second);
    const std::int64_t first = replica.computed + 1;
    out_.slice(r, kCompute,
               first == step ? fmt::format("step {}", step) : fmt::format("steps {} to {}", first, step),
               replica.clock, end, at_step(step));
    replica.computed = step;
    replica.clock = std::max(replica.clock, end);
  }

  // What is between them is waited for: a bubble, or the network (pipeline.csv).
  void draw_passes(std::int64_t r, const std::vector<Pass>& passes) {
    Replica& replica = replicas_[r];
    for (const Pass& pass : passes) {
      out_.slice(r, kWait, "wait for a micro-batch", replica.clock, pass.begin, "");
      out_.slice(r, kCompute, pass.name, pass.begin, pass.end, "");
      replica.clock = std::max(replica.clock, pass.end);
    }
  }

  void draw_compute(std::int64_t step) {
    const std::int64_t r = steps_.integer(1);
    compute_until(r, step, nanoseconds(steps_.number(2)));
    replicas_[r].done = nanoseconds(steps_.number(3));
  }

  void draw_exchange(std::int64_t step) {
    const std::int64_t r = exchanges_.replica();
    Replica& replica = replicas_[r];
    const std::string name(exchanges_.exchange());
    const Nanoseconds ready = nanoseconds(exchanges_.ready_s()), start = nanoseconds(exchanges_.start_s()),
                      done = nanoseconds(exchanges_.done_s());
    const std::string arguments = fmt::format(R"({},"bytes":{})", at_step(step), exchanges_.bytes());
    if (exchanges_.overlaps()) {
      out_.slice(r, kOverlapped, name, std::max(start, replica.overlapped), done, arguments);
      replica.overlapped = std::max(done, replica.overlapped);
      return;
    }
    compute_until(r, step, ready);  // steps.csv may hold evaluations only: the exchange ends the compute
    out_.slice(r, kWait, "wait for the others", std::max(ready, replica.clock), start, at_step(step));
    out_.slice(r, kExchange, name, std::max(start, replica.clock), done, arguments);
    replica.clock = std::max(replica.clock, done);
  }

  void end_step(std::size_t r, std::int64_t step) {
    Replica& replica = replicas_[r];
    out_.slice(static_cast<std::int64_t>(r), kWait, "wait for an overlapped exchange", replica.clock,
               replica.done, at_step(step));
    replica.clock = std::max(replica.clock, replica.done);
  }

  std::string folder_;
  CsvStream steps_;
  ExchangeTable exchanges_;
  std::int64_t next_step_ = 0, next_exchange_ = 0;
  Passes passes_;
  std::vector<Replica> replicas_;
  TimelineWriter& out_;
};

// Of "replica 3"; -1 for everything else.
std::int64_t replica_of(const std::string& subject, std::int64_t replicas) {
  for (std::int64_t r = 0; r < replicas; ++r)
    if (subject == fmt::format("replica {}", r)) return r;
  return -1;
}

}  // namespace

void draw_faults(const std::string& case_folder, std::int64_t replicas, TimelineWriter& out) {
  const std::string file = case_folder + "/faults.csv";
  if (!std::filesystem::exists(file)) return;
  std::map<std::pair<std::string, std::int64_t>, int> lanes;  // by subject and fault
  std::map<std::int64_t, int> lanes_of;                       // by process
  for (CsvStream rows(file, {"fault", "kind", "subject", "begin_s", "end_s"}); rows.next();) {
    const std::int64_t fault = rows.integer(0);
    const std::string kind(rows.text(1)), subject(rows.text(2));
    const std::int64_t struck = replica_of(subject, replicas), process = struck < 0 ? replicas : struck;
    const bool is_slow = struck >= 0;
    const auto [lane, is_new] = lanes.emplace(std::make_pair(subject, fault), 0);
    if (is_new) {
      lane->second = kFault + lanes_of[process]++;
      if (!is_slow && lanes_of[process] == 1) out.name_process(replicas, "network");
      out.name_lane(process, lane->second,
                    is_slow ? fmt::format("fault {}", fault) : fmt::format("fault {}: {}", fault, subject));
    }
    out.slice(process, lane->second, kind, nanoseconds(rows.number(3)), nanoseconds(rows.number(4)),
              fmt::format(R"("fault":{},"subject":{})", fault, Json(subject).dump()));
  }
}

void write_timeline(const std::string& case_folder, const TimelineOptions& options) {
  const std::string file = case_folder + "/timeline.json";
  for (const char* end : {"", ".gz"}) std::filesystem::remove(file + end);
  if (options.format == TimelineFormat::kNone) return;
  std::vector<DrawnTransfer> transfers = read_transfers(case_folder);
  const std::int64_t slices_of_transfers = 2 * static_cast<std::int64_t>(transfers.size());
  const Extent extent =
      extent_of(case_folder, std::max<std::int64_t>(1, options.maximum - slices_of_transfers));
  TimelineNotes notes{extent.outer_steps, extent.last_step, "",
                      transfers_note(case_folder, transfers.size())};
  if (extent.sampled) {
    notes.sampled = sampled_in_words(extent);
    transfers.erase(std::remove_if(transfers.begin(), transfers.end(),
                                   [&](const DrawnTransfer& drawn_transfer) {
                                     return drawn_transfer.step > extent.last_step;
                                   }),
                    transfers.end());
  }
  TimelineWriter out(options.format == TimelineFormat::kGzip ? file + ".gz" : file, notes, extent.replicas);
  TimelineBuilder(case_folder, extent, out).draw_until(extent.last_step);
  draw_transfers(std::move(transfers), out);
  draw_faults(case_folder, extent.replicas, out);
  out.finish();
  std::ofstream log(case_folder + "/log.txt", std::ios::app);
  for (const std::string& note : {notes.sampled, notes.transfers})
    if (!note.empty()) log << "timeline.json: " << note << '\n';
}

}  // namespace longhaul
