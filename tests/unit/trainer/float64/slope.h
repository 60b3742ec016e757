// The slope of a function by finite differences.
#pragma once

namespace longhaul {

// Of fourth order, (8 (f(h) − f(−h)) − (f(2h) − f(−2h))) / 12h, where `variable` is now. At h = 1e-3 its own
// error is about h⁴ f⁗′/30, 1e-13, and as much from rounding.
template <typename Function>
double slope(double& variable, const Function& function, double width = 1e-3) {
  const double middle = variable;
  const auto at = [&](double steps) {
    variable = middle + steps * width;
    return function();
  };
  const double found = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * width);
  variable = middle;
  return found;
}

}  // namespace longhaul
