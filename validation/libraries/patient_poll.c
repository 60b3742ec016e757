/* Preloaded before an MPI library: a look at its sockets that finds nothing waits for them, at most 0.2 ms.

   MPI libraries look in a loop that never sleeps. Eight ranks that do so on two cores would be a delay of the machine that eight
   hosts do not have. A socket that becomes ready ends the wait at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>

static const struct timespec kWait = {0, 200000};

int epoll_wait(int epoll, struct epoll_event* events, int most, int timeout_ms) {
  static int (*real)(int, struct epoll_event*, int, int);
  if (!real) real = (int (*)(int, struct epoll_event*, int, int))dlsym(RTLD_NEXT, "epoll_wait");
  if (timeout_ms != 0) return real(epoll, events, most, timeout_ms);
  return epoll_pwait2(epoll, events, most, &kWait, NULL);
}

int poll(struct pollfd* polled, nfds_t count, int timeout_ms) {
  static int (*real)(struct pollfd*, nfds_t, int);
  if (!real) real = (int (*)(struct pollfd*, nfds_t, int))dlsym(RTLD_NEXT, "poll");
  if (timeout_ms != 0) return real(polled, count, timeout_ms);
  return ppoll(polled, count, &kWait, NULL);
}
