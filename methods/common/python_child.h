// The process that has a user's outer step in Python (python/longhaul/outer.py), and conversations with it: a
// JSON line each way. Those behind the first are for processes that it forks. Of python3 on the search path
// it is the first that has numpy.
//
// An answer may take LONGHAUL_STEP_LIMIT (a duration, default 10min; "unlimited"). After some seconds people
// are told which file it is that takes so long. An interrupt (core/base/child_main.h) ends the wait.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/base/json.h"

namespace longhaul {

// Who hears of a step that takes long: a line of text. By default it goes to stderr.
void tell_of_slow_steps(std::function<void(const std::string& text)> tell);

class PythonChild {
 public:
  // Throws InputError where no python3 has numpy. Descriptors without FD_CLOEXEC are the child's too.
  explicit PythonChild(int conversations = 1);

  // Ends the process, and those that it has forked.
  ~PythonChild();
  PythonChild(const PythonChild&) = delete;
  PythonChild& operator=(const PythonChild&) = delete;

  // Throws InputError, with the file and its line in `found`, where the user's code is wrong, does not return
  // or ends the process; Interrupted. Several threads may ask at once, each in a conversation of its own.
  Json ask(const Json& request, int conversation = 0);

  // The descriptors that the conversations behind the first have in the process.
  const std::vector<int>& others() const { return others_; }

 private:
  struct Conversation {
    int socket = -1;
    std::string unread;
  };

  void send_line(const Conversation& conversation, const std::string& line) const;
  std::string next_line(Conversation& conversation);
  void wait_for_answer(int socket, std::chrono::steady_clock::time_point asked);
  InputError ended() const;

  std::string file_;
  std::vector<Conversation> conversations_;
  std::vector<int> others_;
  pid_t pid_ = -1;
  const double limit_s_;
  std::atomic<bool> told_ = false;
};

}  // namespace longhaul
