#include "replay/logged_network.h"

#include <utility>

#include "core/index.h"

namespace longhaul {
namespace {

constexpr std::int64_t kMostRows = 10000;

}  // namespace

LoggedNetwork::LoggedNetwork(std::unique_ptr<Network> network, const Clock& clock, const std::string& folder,
                             const std::vector<OperationRule>& rules)
    : network_(std::move(network)),
      clock_(clock),
      rules_(rules),
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

// Times since training began: handed to the network, and the last byte has arrived.
void LoggedNetwork::write_row(const Transmission& transfer, double start_s) {
  const double origin_s = network_->ready_s();
  out_.cell(transfer.key.step).cell(rules_[as_index(transfer.key.rule)].name);
  out_.cell(transfer.source).cell(transfer.target);
  out_.cell(seconds_between(origin_s, start_s)).cell(seconds_between(origin_s, clock_.now_s()));
  out_.cell(transfer.bytes).end_row();
}

}  // namespace longhaul
