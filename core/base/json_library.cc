#include "core/base/json_library.h"

#include <fmt/core.h>

#include <stdexcept>

namespace longhaul {

void break_off(const char* broken) {
  throw std::logic_error(fmt::format("a JSON value was used as what it is not: {}", broken));
}

}  // namespace longhaul
