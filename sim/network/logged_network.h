// A network that notes the first messages that it carries in transfers.csv, and passes all of them on.
#pragma once

#include <memory>

#include "net/replay/transfer_log.h"
#include "sim/network/network.h"

namespace longhaul {

class LoggedNetwork : public Network {
 public:
  // `log` must outlive it.
  LoggedNetwork(std::unique_ptr<Network> network, TransferLog& log);

  void send(int source, int target, std::int64_t bytes, Arrival on_arrival, SyncParts* parts) override {
    network_->send(source, target, bytes, std::move(on_arrival), parts);
  }
  void send_message(const MessageKey& key, int source, int target, std::int64_t bytes, Arrival on_arrival,
                    SyncParts* parts) override;
  double ready_s() const override { return network_->ready_s(); }
  const std::vector<LinkLoad>& loads() const override { return network_->loads(); }

 private:
  std::unique_ptr<Network> network_;
  TransferLog& log_;
};

}  // namespace longhaul
