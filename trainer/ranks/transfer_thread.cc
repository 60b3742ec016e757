#include "trainer/ranks/transfer_thread.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "core/base/errors.h"

namespace longhaul {
namespace {

// Signals are the business of the thread that asks whether one came.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

TransferThread::TransferThread(const std::vector<Connection*>& connections)
    : events_(::epoll_create1(EPOLL_CLOEXEC)), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!events_.is_open() || !stop_.is_open())
    throw RunError(std::string("no descriptor for transfers between ranks: ") + std::strerror(errno));
  epoll_event stop{};
  stop.events = EPOLLIN;
  ::epoll_ctl(events_.descriptor(), EPOLL_CTL_ADD, stop_.descriptor(), &stop);
  for (Connection* connection : connections) {
    watch(*connection, EPOLL_CTL_ADD);
    connection->when_unfinished([this, connection] { watch(*connection, EPOLL_CTL_MOD); });
  }
  const WithoutSignals in_the_thread;
  thread_ = std::thread([this] { run(); });
}

TransferThread::~TransferThread() {
  const std::uint64_t number = 1;
  while (::write(stop_.descriptor(), &number, sizeof number) < 0 && errno == EINTR) {
  }
  thread_.join();
}

// Says once that a socket has become ready: what is begun later looks for itself. EPOLL_CTL_MOD says it
// again.
void TransferThread::watch(Connection& connection, int operation) const {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &connection;
  ::epoll_ctl(events_.descriptor(), operation, connection.descriptor(), &event);
}

void TransferThread::run() {
  constexpr int kMost = 64;
  epoll_event ready[kMost];
  std::set<Connection*> unfinished;
  for (;;) {
    const int count = ::epoll_wait(events_.descriptor(), ready, kMost, unfinished.empty() ? -1 : 0);
    for (int i = 0; i < count; ++i) {
      if (!ready[i].data.ptr) return;
      unfinished.insert(static_cast<Connection*>(ready[i].data.ptr));
    }
    for (auto item = unfinished.begin(); item != unfinished.end();)
      item = (*item)->progress() ? std::next(item) : unfinished.erase(item);
  }
}

}  // namespace longhaul
