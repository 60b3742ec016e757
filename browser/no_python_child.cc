// What stands for methods/common/python_child.cc in a browser, which starts no processes.
#include <stdexcept>

#include "methods/common/python_child.h"

namespace longhaul {

void tell_of_slow_steps(std::function<void(const std::string& text)>) {}

PythonChild::PythonChild(int) : limit_s_(0) {
  throw InputError("", "found an outer step in Python, which runs in a process of its own",
                   "a method of Longhaul's (this page starts no processes)",
                   "longhaul plan, the command, runs such steps");
}

PythonChild::~PythonChild() = default;

Json PythonChild::ask(const Json&, int) {
  throw std::logic_error("a process that was never started is asked");
}

}  // namespace longhaul
