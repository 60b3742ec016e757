// Counts and numbers of replicas are int, columns std::int64_t, places in containers std::size_t.
#pragma once

#include <cstddef>

namespace longhaul {

// A number that is not negative, as a place in a container or as its size.
template <typename Integer>
constexpr std::size_t as_index(Integer number) {
  return static_cast<std::size_t>(number);
}

}  // namespace longhaul
