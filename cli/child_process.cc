#include "cli/child_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

volatile std::sig_atomic_t interrupts = 0;

void count_interrupt(int) {
  interrupts = interrupts + 1;
}

// Signals wait while it lives: from before fork until the child no longer has our handlers, which only count.
// A child of that moment would lose the signal that is to end it, and outlive its parent.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsWait() { restore(); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// After fork: only what is safe there.
[[noreturn]] void become(char* const* arguments, const char* folder, int output, int log, int null,
                         pid_t parent, int at_death, const SignalsWait& signals) {
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
  setpgid(0, 0);
  signals.restore();
  prctl(PR_SET_PDEATHSIG, at_death);
  if (getppid() != parent) _exit(kRunFailed);  // it died before we asked
  if (*folder && chdir(folder) != 0) _exit(127);
  dup2(null, STDIN_FILENO);
  dup2(output < 0 ? log : output, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execv(arguments[0], arguments);
  _exit(127);
}

}  // namespace

pid_t start_process(std::vector<std::string> arguments, const std::string& log_file,
                    const std::string& folder, int output, int at_death) {
  std::vector<char*> raw;
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);
  const int log = log_file.empty() ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
                                   : open(log_file.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) throw RunError(log_file + ": cannot be written: " + std::strerror(errno));
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const SignalsWait signals;
  const pid_t parent = getpid(), child = fork();
  if (child == 0) become(raw.data(), folder.c_str(), output, log, null, parent, at_death, signals);
  const std::string reason = std::strerror(errno);
  for (int fd : {log, null}) close(fd);
  if (child < 0) throw RunError("no process: " + reason);
  setpgid(child, child);
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string program_on_path(const std::string& name,
                            const std::function<bool(const std::string& file)>& is_right) {
  std::stringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) {
    const std::string file = std::filesystem::absolute((folder.empty() ? "." : folder) + "/" + name).string();
    if (access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file) &&
        (!is_right || is_right(file)))
      return file;
  }
  return "";
}

ChildProcess::ChildProcess(std::vector<std::string> arguments, const std::string& log_file, bool is_mpirun)
    : is_mpirun_(is_mpirun) {
  int ends[2];
  if (pipe(ends) != 0) throw RunError(std::string("no pipe: ") + std::strerror(errno));
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  arguments.insert(arguments.end(), {"--progress-fd", std::to_string(is_mpirun ? STDOUT_FILENO : ends[1])});
  try {
    pid_ = is_mpirun ? start_process(std::move(arguments), log_file, "", ends[1], SIGUSR1)
                     : start_process(std::move(arguments), log_file);
  } catch (...) {
    for (int fd : ends) close(fd);
    throw;
  }
  close(ends[1]);
  descriptor_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill();
    wait();
  }
  if (descriptor_ >= 0) close(descriptor_);
}

void ChildProcess::read_messages() {
  char chunk[4096];
  const ssize_t count = read(descriptor_, chunk, sizeof chunk);
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) {
    close(descriptor_);
    descriptor_ = -1;
    return;
  }
  buffer_.append(chunk, as_index(count));
  for (std::size_t end; (end = buffer_.find('\n')) != std::string::npos; buffer_.erase(0, end + 1))
    take_line(buffer_.substr(0, end));
}

void ChildProcess::take_line(const std::string& line) {
  const Json message = Json::parse(line, nullptr, false);
  if (!message.is_object()) return;
  if (message.contains("protocol") && message["protocol"] != kProtocolVersion)
    error_ = fmt::format("speaks protocol {}, not {}: a mixed build", message["protocol"].dump(),
                         kProtocolVersion);
  if (message.contains("error")) error_ = message["error"].get<std::string>();
  if (message.contains("note")) notes_.push_back(message["note"].get<std::string>());
  if (message.contains("result")) result_ = message["result"];
  if (!message.contains("total")) return;
  done_ = message["done"];
  total_ = message["total"];
  unit_ = message.value("unit", "");
  text_ = message.value("text", "");
}

std::string ChildProcess::text() const {
  if (total_ <= 0) return "starting";
  return fmt::format("{} of {} {}{}", format_number(done_), format_number(total_), unit_,
                     text_.empty() ? "" : ", " + text_);
}

void ChildProcess::send_signal(int signal) const {
  if (pid_ > 0) ::kill(-pid_, signal);
}

int ChildProcess::wait() {
  const int status = wait_for(pid_);
  pid_ = -1;
  return status;
}

void leave_launcher() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable, name = text.substr(0, text.find('='));
    for (const char* prefix :
         {"OMPI_COMM_WORLD_", "OMPI_MCA_ess", "OMPI_MCA_orte_", "OMPI_MCA_pmix", "PMIX_", "PMI_"})
      if (name.rfind(prefix, 0) == 0) names.push_back(name);
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

// A terminal or a reader that is gone (longhaul run ... | head) is no reason to give up hours of work: what
// is said there is lost, and the files are not.
void count_interrupts() {
  std::signal(SIGPIPE, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = count_interrupt;  // no SA_RESTART: poll() must wake up
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupts_so_far() {
  return interrupts;
}

}  // namespace longhaul
