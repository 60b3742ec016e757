// What the mains of the three programs share: the limits of a system are errors instead of signals, and what
// could not be said on standard output is a failure.
#pragma once

#include <functional>
#include <string>

namespace longhaul {

// Runs `body` and flushes standard output. Returns its exit status; kRunFailed, with a message of `program`,
// where it is kDone and the output could not be written. A reader that has closed a pipe is no failure: it
// has what it wanted.
int program_main(const std::string& program, const std::function<int()>& body);

}  // namespace longhaul
