#include "replay/output/logged_network.h"

#include <iterator>
#include <utility>

#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr std::int64_t kMostRows = 10000;
constexpr const char* kPassed[] = {"activations", "gradients", "state"};

}  // namespace

std::vector<std::string> row_names(const OperationPlan& plan) {
  std::vector<std::string> names;
  for (const OperationRule& rule : plan.rules) names.push_back(rule.name);
  for (const char* passed : kPassed) names.push_back(passed);
  for (const StepCollective& collective : plan.step_graph.collectives) names.push_back(collective.name);
  names.push_back("weights");
  return names;
}

int first_row_of_step_graph(const OperationPlan& plan) {
  return static_cast<int>(plan.rules.size() + std::size(kPassed));
}

int row_of_weights(const OperationPlan& plan) {
  return static_cast<int>(row_names(plan).size()) - 1;
}

LoggedNetwork::LoggedNetwork(std::unique_ptr<Network> network, const Clock& clock, const std::string& folder,
                             std::vector<std::string> names)
    : network_(std::move(network)),
      clock_(clock),
      names_(std::move(names)),
      out_(folder + "/transfers.csv", {"step", "exchange", "from", "to", "start_s", "done_s", "bytes"}) {
  network_->set_heartbeat([this] { beat(); });
}

void LoggedNetwork::send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) {
  if (logged_ == kMostRows) return network_->send(transfer, std::move(on_arrival), parts);
  ++logged_;
  const auto note = [this, transfer, start_s = clock_.now_s(), passed_on = std::move(on_arrival)] {
    write_row(transfer, start_s);
    passed_on();
  };
  network_->send(transfer, note, parts);
}

// None of its transfers is one that is logged.
bool LoggedNetwork::note_equal_round(EqualRound round) {
  return std::exchange(is_log_over_, logged_ == kMostRows) && network_->note_equal_round(std::move(round));
}

// Times since training began: handed to the network, and the last byte has arrived.
void LoggedNetwork::write_row(const Transmission& transfer, double start_s) {
  const double origin_s = network_->ready_s();
  out_.cell(transfer.key.step).cell(names_[as_index(transfer.key.rule)]);
  out_.cell(transfer.source).cell(transfer.target);
  out_.cell(seconds_between(origin_s, start_s)).cell(seconds_between(origin_s, clock_.now_s()));
  out_.cell(transfer.bytes).end_row();
}

}  // namespace longhaul
