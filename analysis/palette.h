// One colour a method everywhere: in the report and in figures for papers.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

// Okabe and Ito's palette (2008), which the colour-blind can tell apart, the weakest on white last. "ink" is
// the colour of the text: black on paper. A method takes the colour of its place among the labels; the ninth
// starts again and is told apart by its dashes.
inline const std::vector<std::string>& method_palette() {
  static const std::vector<std::string> colors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                  "#E69F00", "#56B4E9", "ink",     "#C9B900"};
  return colors;
}

}  // namespace longhaul
