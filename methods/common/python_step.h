// A method whose step is a user's, in Python (docs/howto/method-in-python.md). A scenario's method {"name":
// "python", "file": "my.py", ...} becomes the method that the file says it is like, with a section "python"
// beside its options. A file that declares its exchanges itself (`among`) becomes DiLoCo among all or NoLoCo
// among groups, whose rows and payload its own replace:
//
//   file        absolute path           content   hash of its bytes, which is in the training's key
//   reads       the step's arguments: theirs decide what travels (docs/howto/method-in-python.md)
//   keeps       rows of its own that a replica keeps
//   sends       what travels instead    columnwise   whether the step may be given any columns
//   parameters  numbers and texts for the step     options   those of the method that the step is given too
//   model       train.model, for the columns of each tensor
//   declares    the file declares its exchanges: only the rows of `keeps` are kept
//   compression of exchanges among groups that the file declares: codec, error_feedback, feedback_decay
//
// So plan, checks, replay and recovery are those of that method, and none of them needs Python.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "methods/common/method.h"
#include "methods/common/python_child.h"

namespace longhaul {

// The declaration of {"name": "python", ...}.
Node python_method_option();

// What an expanded method has below "python", as another program may have written it.
Node python_section();

bool has_python_step(const Json& method_options);
// The first argument of the step that is what each member of a group has sent, as "sent_delta"; empty: it
// needs their mean alone, and one's own. In groups of more than two, rows need an all-gather.
std::string rows_read_by(const Json& method_options);
// Of a case that PythonSteps::check() has tried.
std::vector<std::string> python_warnings(const Case& config);
// Of DiLoCo's and NoLoCo's options those that are no part of what a file declares.
const std::vector<std::string>& options_of_steps();
// What the step calls a row of a replica: theta, phi, momentum, and others by their own name; and those that
// are kept, back.
std::string python_name_of(const std::string& row);
std::string row_named_in_python(const std::string& name);
// The step's keyword arguments.
Json python_parameters(const Json& method_options);
// Throws InputError where the file's bytes are not those of the hash.
void check_python_content(const Json& method_options);

// What the file changes in the plan of the method that it is like: rows kept, tensors sent, their codec. In
// groups of more than two an all-gather takes the place of a sum where the step reads rows, or where messages
// of the codec do not add up.
void change_plan(const Json& method_options, const PlannedModel& model, OperationPlan& plan);

// Of one scenario: the files are read, and a process started for each, once.
class PythonSteps {
 public:
  // Every method "python" of `scenario` (as written, or with a point of its sweep assigned) becomes the one
  // that it is like. Relative files start in `folder`; `path` is where the scenario stands. Throws
  // InputError.
  void expand(Json& scenario, const std::string& folder, const std::string& path = "");
  // Takes the step once, with the case's parameters, on small tables. Throws InputError at "method.KEY".
  void check(Case& config);

 private:
  struct File {
    std::unique_ptr<PythonChild> child;
    Json description;
    std::string content;
  };
  void expand_method(Json& method, const std::string& path, const std::string& folder);
  const File& described(const std::string& file, const std::string& path);

  std::map<std::string, File> files_;  // by absolute path
  std::set<std::string> tried_;
};

}  // namespace longhaul
