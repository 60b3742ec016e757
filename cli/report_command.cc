#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "analysis/report/report.h"
#include "analysis/run_files.h"
#include "analysis/runs/run_directory.h"
#include "cli/child_process.h"
#include "cli/claim.h"
#include "cli/commands.h"
#include "cli/run_outputs.h"
#include "core/base/child_main.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Look {
  RunDirectories opened;
  int live = 0;  // runs in progress
  std::size_t done = 0, cases = 0;
};

Look look_at(const std::vector<std::string>& folders) {
  Look look;
  std::vector<std::string> ended;
  for (const std::string& folder : folders) {
    if (!is_live(folder) && worker_in(folder).empty()) {
      ended.push_back(folder);
      continue;
    }
    ++look.live;
    try {
      look.opened.runs.push_back(open_live_run(folder));
    } catch (const RunError& error) {
      look.opened.problems.push_back(error.what());  // it began a moment ago and has no manifest yet
      continue;
    }
    for (const Json& record : look.opened.runs.back().records) {
      ++look.cases;
      look.done += record.value("status", "") == "done";
    }
  }
  if (ended.empty()) return look;
  try {
    const RunDirectories others = open_runs(ended);
    look.opened.runs.insert(look.opened.runs.end(), others.runs.begin(), others.runs.end());
    look.opened.problems = others.problems;
  } catch (const InputError& error) {
    if (look.live == 0) throw;
    look.opened.problems.push_back(error.what());
  }
  return look;
}

void write_page(const Look& look, const std::string& out, double seconds, bool goes_on) {
  Json data = report_data(look.opened);
  if (goes_on)
    data["live"] = {
        {"seconds", seconds},
        {"text",
         fmt::format("In progress: {} of the {} cases that have begun or are in the summary are done. "
                     "Written at {}; this page reloads itself.",
                     look.done, look.cases, utc_now())}};
  write_file(out, report_page(data));
}

void wait(double seconds) {
  const auto end = SteadyClock::now() + std::chrono::duration<double>(seconds);
  while (SteadyClock::now() < end && interrupts_so_far() == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

// Writes `out` every `seconds`, and once more without reloading when no run is in progress any more or on
// Ctrl-C.
int watch_report(const std::vector<std::string>& runs, const std::string& out, double seconds) {
  count_interrupts();
  for (bool first = true;; first = false) {
    const auto began = SteadyClock::now();
    const Look look = look_at(runs);
    const bool goes_on = look.live > 0 && interrupts_so_far() == 0;
    if (!look.opened.runs.empty()) write_page(look, out, seconds, goes_on);
    if (first) std::printf("report: %s\n", out.c_str());
    std::fflush(stdout);
    if (!goes_on) return interrupts_so_far() > 0 ? kInterrupted : kDone;
    // Of a thousand cases a page takes seconds: no more than a tenth of a processor for it.
    wait(std::max(seconds, 10 * std::chrono::duration<double>(SteadyClock::now() - began).count()));
  }
}

}  // namespace

int report_command(const ReportOptions& options) {
  std::string out = options.out;
  // Not report.html: the run itself writes that now and then, and its page does not reload.
  if (out.empty())
    out = options.runs.size() > 1 ? "report.html"
                                  : options.runs[0] + (options.watch ? "/live.html" : "/report.html");
  if (options.watch) return watch_report(options.runs, out, options.every_s);
  const Json data = report_data(options.runs);
  warn(data["problems"].get<std::vector<std::string>>());
  write_file(out, report_page(data));
  std::printf("report: %s\n", out.c_str());
  return kDone;
}

}  // namespace longhaul
