// Child processes: how they are started, and what one says on its progress descriptor (docs/formats.md,
// "protocol").
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/options.h"

namespace longhaul {

// Starts `arguments`, the path of the program first, in `folder` ("": here), in a process group of its own,
// with no input and its output at the end of `log_file` ("": where our errors go); terminated when this
// process dies. Throws RunError.
// `output`, if not negative: a descriptor for its standard output; `at_death`: the signal that terminates it.
pid_t start_process(std::vector<std::string> arguments, const std::string& log_file,
                    const std::string& folder = "", int output = -1, int at_death = SIGTERM);

// Waits for its end: the exit status, or 128 + signal for a killed child.
int wait_for(pid_t child);

// The first program of that name on the search path for which `is_right` holds; empty where there is none.
std::string program_on_path(const std::string& name,
                            const std::function<bool(const std::string& file)>& is_right = {});

class ChildProcess {
 public:
  // Starts `arguments` with "--progress-fd N" appended (start_process). mpirun passes on no descriptor but
  // the standard ones, and gives ranks a second to stop after any signal but SIGUSR1, which it passes on:
  // `is_mpirun` has the progress on standard output.
  ChildProcess(std::vector<std::string> arguments, const std::string& log_file, bool is_mpirun = false);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int descriptor() const { return descriptor_; }  // to poll for reading
  void read_messages();  // takes what is there; at the end of the stream closed() is true
  bool closed() const { return descriptor_ < 0; }
  void stop() const { send_signal(is_mpirun_ ? SIGUSR1 : SIGINT); }
  void kill() const { send_signal(SIGKILL); }
  int wait();  // as wait_for

  double fraction() const { return total_ > 0 ? done_ / total_ : 0; }
  std::string text() const;  // "40 of 200 steps, loss 2.31"
  // What it said that people should see since this was asked last.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }
  const std::string& error() const { return error_; }
  const Json& result() const { return result_; }

 private:
  void take_line(const std::string& line);
  void send_signal(int signal) const;  // to the whole group

  bool is_mpirun_;
  pid_t pid_ = -1;
  int descriptor_ = -1;
  std::string buffer_, unit_, text_, error_;
  double done_ = 0, total_ = 0;
  std::vector<std::string> notes_;
  Json result_;
};

// Where this process is a rank of a launcher's (mpirun, srun), as a worker of mpi4py is: its children are
// none (trainer/ranks/ranks.cc), nor is an mpirun that it starts inside of that job.
void leave_launcher();

// Ctrl-C in longhaul itself: the first is forwarded to the children, the second kills them.
void count_interrupts();  // installs the handlers of SIGINT and SIGTERM; SIGPIPE is ignored from then on
int interrupts_so_far();

}  // namespace longhaul
