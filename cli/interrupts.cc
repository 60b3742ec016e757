#include "cli/interrupts.h"

#include <csignal>

namespace longhaul {
namespace {

volatile std::sig_atomic_t count = 0;

void handle(int) {
  count = count + 1;
}

}  // namespace

void count_interrupts() {
  struct sigaction action {};
  action.sa_handler = handle;  // no SA_RESTART: poll() must wake up
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupts_so_far() {
  return count;
}

}  // namespace longhaul
