// Algorithms of the standard over the whole of a list; <algorithm> comes with them. Those that return a place
// take lists that outlive it.
#pragma once

#include <algorithm>

namespace longhaul {

inline constexpr auto contains = [](const auto& in, const auto& what) {
  return std::find(in.begin(), in.end(), what) != in.end();
};
inline constexpr auto any_of = [](auto&& in, auto&& is) { return std::any_of(in.begin(), in.end(), is); };
inline constexpr auto none_of = [](auto&& in, auto&& is) { return !any_of(in, is); };
inline constexpr auto find_if = [](auto&& in, auto&& is) { return std::find_if(in.begin(), in.end(), is); };
inline constexpr auto count_if = [](auto&& in, auto&& is) { return std::count_if(in.begin(), in.end(), is); };
inline constexpr auto stable_sort = [](auto& all, auto&& is_before) {
  std::stable_sort(all.begin(), all.end(), is_before);
};

// Takes out those for which `is` holds.
inline constexpr auto drop_if = [](auto& all, auto&& is) {
  all.erase(std::remove_if(all.begin(), all.end(), is), all.end());
};

// Appends it unless it is there.
inline constexpr auto add_new = [](const auto& what, auto& all) {
  if (!contains(all, what)) all.push_back(what);
};

}  // namespace longhaul
