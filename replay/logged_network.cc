#include "replay/logged_network.h"

#include <utility>

namespace longhaul {

LoggedNetwork::LoggedNetwork(std::unique_ptr<Network> network, TransferLog& log, const Clock& clock)
    : network_(std::move(network)), log_(log), clock_(clock) {
  network_->set_heartbeat([this] { beat(); });
}

void LoggedNetwork::send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) {
  if (!log_.take()) return network_->send(transfer, std::move(on_arrival), parts);
  const auto note = [this, transfer, start_s = clock_.now_s(), passed_on = std::move(on_arrival)] {
    const double origin_s = network_->ready_s();
    log_.add({transfer.key.step, transfer.key.rule, transfer.source, transfer.target,
              seconds_between(origin_s, start_s), seconds_between(origin_s, clock_.now_s()), transfer.bytes});
    passed_on();
  };
  network_->send(transfer, note, parts);
}

}  // namespace longhaul
