// The update of a method whose step is a user's, in Python (methods/common/python_step.h).
#pragma once

#include <memory>

#include "trainer/operations/update.h"

namespace longhaul {

// `like`: the update of the method whose plan is carried out; it says which operations are followed by a
// step.
std::unique_ptr<Update> make_python_update(const Json& method_options, std::unique_ptr<Update> like);

}  // namespace longhaul
