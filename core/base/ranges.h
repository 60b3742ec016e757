// Algorithms of the standard over the whole of a list; <algorithm> comes with them. Those that return a place
// take lists that outlive it.
#pragma once

#include <algorithm>
#include <functional>
#include <type_traits>
#include <vector>

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

// A member of each, or what a function says of each.
inline constexpr auto each_of = [](const auto& all, auto&& what) {
  std::vector<std::decay_t<decltype(std::invoke(what, *all.begin()))>> found;
  for (const auto& one : all) found.push_back(std::invoke(what, one));
  return found;
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
