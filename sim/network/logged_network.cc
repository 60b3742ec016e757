#include "sim/network/logged_network.h"

#include <utility>

#include "sim/network/clock.h"

namespace longhaul {

LoggedNetwork::LoggedNetwork(std::unique_ptr<Network> network, TransferLog& log)
    : network_(std::move(network)), log_(log) {
  network_->set_heartbeat([this] { beat(); });
}

void LoggedNetwork::send_message(const MessageKey& key, int source, int target, std::int64_t bytes,
                                 Arrival on_arrival, SyncParts* parts) {
  if (!log_.take()) return network_->send_message(key, source, target, bytes, std::move(on_arrival), parts);
  const auto note = [this, step = key.step, rule = key.rule, source, target, bytes, start_s = now_s(),
                     passed_on = std::move(on_arrival)] {
    const double origin_s = network_->ready_s();
    log_.add({step, rule, source, target, seconds_between(origin_s, start_s),
              seconds_between(origin_s, now_s()), bytes});
    passed_on();
  };
  network_->send_message(key, source, target, bytes, note, parts);
}

}  // namespace longhaul
