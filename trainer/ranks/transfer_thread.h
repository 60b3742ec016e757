// A thread that moves messages over connections while the rank computes or waits.
#pragma once

#include <thread>
#include <vector>

#include "trainer/ranks/connection.h"

namespace longhaul {

class TransferThread {
 public:
  // The connections outlive the thread, which takes no signals. Throws RunError where the system refuses.
  explicit TransferThread(const std::vector<Connection*>& connections);
  ~TransferThread();
  TransferThread(const TransferThread&) = delete;
  TransferThread& operator=(const TransferThread&) = delete;

 private:
  void watch(Connection& connection, int operation) const;
  void run();

  Socket events_, stop_;  // of epoll; an eventfd
  std::thread thread_;
};

}  // namespace longhaul
