// A network that writes the first messages that it carries to transfers.csv, and passes all of them on.
#pragma once

#include <memory>

#include "replay/network/network.h"
#include "replay/tables/transfer_log.h"

namespace longhaul {

class LoggedNetwork : public Network {
 public:
  // `log` and `clock` must outlive it.
  LoggedNetwork(std::unique_ptr<Network> network, TransferLog& log, const Clock& clock);

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) override;
  double ready_s() const override { return network_->ready_s(); }
  const std::vector<LinkLoad>& loads() override { return network_->loads(); }

 private:
  std::unique_ptr<Network> network_;
  TransferLog& log_;
  const Clock& clock_;
};

}  // namespace longhaul
