// All updates there are: a file of trainer/updates/ each, found by CMake (cmake/Methods.cmake).
#pragma once

#include <string>
#include <vector>

#include "trainer/operations/update.h"

namespace longhaul {

struct UpdateMaker {
  std::string method;
  std::unique_ptr<Update> (*make)(const Json& options);
};

const std::vector<UpdateMaker>& update_makers();

// For a method that the scenario's check has let through. Throws std::logic_error where the trainer does not
// know it.
std::unique_ptr<Update> make_update(const MethodSpec& method);

}  // namespace longhaul
