#include "validation/grid/grid_run.h"

#include <ns3/simulator.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "core/base/errors.h"
#include "replay/exchange_run.h"
#include "sim/network/clock.h"
#include "sim/simulated_replay.h"

namespace longhaul {
namespace {

class GridRun {
 public:
  GridRun(const GridCase& grid_case, const std::string& fidelity, std::uint64_t seed)
      : one_(grid_case),
        topology_(topology_of(grid_case)),
        groups_(groups_of(grid_case)),
        network_(network_of(fidelity, seed)),
        context_{simulator_clock(), *network_, topology_.site_of()} {
    rule_.name = "exchange";
    rule_.collective = grid_case.kind;
    rule_.payload = whole({"delta"}, Wire::kInt8);
  }

  GridTimes run() {
    const ClockScope scope{simulator_clock()};
    GridTimes times;
    after(network_->ready_s(), [this, &times] {
      begin(times.cold, [this, &times] {
        after(one_.gap_s, [this, &times] { begin(times.again, [] { ns3::Simulator::Stop(); }); });
      });
    });
    ns3::Simulator::Run();
    if (times.again.last_s <= 0) throw RunError("the simulation ran out of events in an open exchange");
    return times;
  }

 private:
  static std::vector<std::vector<int>> groups_of(const GridCase& grid_case) {
    std::vector<std::vector<int>> groups;
    const int pairs = grid_case.replicas / 2;
    for (int i = 0; i < pairs && !grid_case.is_collective(); ++i) groups.push_back({i, i + pairs});
    if (!grid_case.is_collective()) return groups;
    std::vector<int> everyone(static_cast<std::size_t>(grid_case.replicas));
    std::iota(everyone.begin(), everyone.end(), 0);
    return {everyone};
  }

  std::unique_ptr<Network> network_of(const std::string& fidelity, std::uint64_t seed) {
    NetworkSpec spec;
    spec.fidelity = fidelity;
    spec.tcp = tcp_of(one_);
    return make_network(
        spec, topology_, [this] { return ends_of(one_); }, seed);
  }

  void begin(ExchangeTime& time, std::function<void()> on_done) {
    time_ = &time;
    on_done_ = std::move(on_done);
    begun_s_ = now_s();
    open_groups_ = groups_.size();
    for (const std::vector<int>& group : groups_)
      one_.kind == "single" ? send(group) : start_collective(group);
  }

  void send(const std::vector<int>& group) {
    network_->send({group[0], group[1], one_.bytes}, [this] { end_group(); });
  }

  // Runs are kept: the last one is what calls end_group.
  void start_collective(const std::vector<int>& group) {
    auto open = std::make_shared<std::size_t>(group.size());
    runs_.push_back(
        std::make_unique<ExchangeRun>(context_, rule_, 0, 1, group, one_.bytes, [this, open](int) {
          if (--*open == 0) end_group();
        }));
    ExchangeRun* run = runs_.back().get();
    for (const int replica : group) run->post(replica);
  }

  void end_group() {
    const double taken_s = seconds_between(begun_s_, now_s());
    if (open_groups_ == groups_.size()) time_->first_s = taken_s;
    time_->last_s = taken_s;
    if (--open_groups_ == 0) after(0, on_done_);
  }

  const GridCase& one_;
  Topology topology_;
  std::vector<std::vector<int>> groups_;
  std::unique_ptr<Network> network_;
  ExchangeContext context_;
  OperationRule rule_;
  std::vector<std::unique_ptr<ExchangeRun>> runs_;
  ExchangeTime* time_ = nullptr;
  std::function<void()> on_done_;
  double begun_s_ = 0;
  std::size_t open_groups_ = 0;
};

enum ExitCode { kDone = 0, kStalled = 3, kRefused = 4 };

[[noreturn]] void be_child(const GridCase& grid_case, const std::string& fidelity, std::uint64_t seed,
                           int out) {
  int code = kDone;
  try {
    const GridTimes times = run_grid_case(grid_case, fidelity, seed);
    if (write(out, &times, sizeof times) != sizeof times) code = kRefused;
  } catch (const RunError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = kStalled;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = kRefused;
  }
  _exit(code);
}

std::string status_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return WTERMSIG(wait_status) == SIGXCPU ? "unfinished" : "crashed";
  switch (WEXITSTATUS(wait_status)) {
    case kDone:
      return "done";
    case kStalled:
      return "stalled";
    case kRefused:
      return "refused";
    default:
      return "crashed";
  }
}

}  // namespace

GridTimes run_grid_case(const GridCase& grid_case, const std::string& fidelity, std::uint64_t seed) {
  return GridRun(grid_case, fidelity, seed).run();
}

GridOutcome run_in_child(const GridCase& grid_case, const std::string& fidelity, std::uint64_t seed,
                         unsigned most_cpu_s) {
  int ends[2];
  if (pipe(ends) != 0) throw RunError("no pipe to a child process");
  const pid_t child = fork();
  if (child < 0) throw RunError("no child process");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit limit = {most_cpu_s, most_cpu_s + 5};
    setrlimit(RLIMIT_CPU, &limit);
    be_child(grid_case, fidelity, seed, ends[1]);
  }
  close(ends[1]);
  GridOutcome outcome;
  char bytes[sizeof outcome.times];
  const bool is_read = read(ends[0], bytes, sizeof bytes) == sizeof bytes;
  if (is_read) std::memcpy(&outcome.times, bytes, sizeof bytes);
  close(ends[0]);
  int wait_status = 0;
  waitpid(child, &wait_status, 0);
  outcome.status = status_of(wait_status);
  if (outcome.status == "done" && !is_read) outcome.status = "crashed";
  return outcome;
}

}  // namespace longhaul
