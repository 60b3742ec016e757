// One colour a method everywhere: in the report and in figures for papers.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace longhaul {

// Okabe and Ito's palette (2008), which the colour-blind can tell apart, the weakest on white last. "ink" is
// the colour of the text: black on paper.
inline const std::vector<std::string>& method_palette() {
  static const std::vector<std::string> colors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                  "#E69F00", "#56B4E9", "ink",     "#C9B900"};
  return colors;
}

// The colour of each label. It follows from the name, not from the place in a scenario, so that a method
// keeps its colour from one figure of a paper to the next: eight common methods have one of their own,
// another label that of its hash. Only a label of the second kind moves, to the next free colour, where
// another label has that colour already. From the ninth label on two share a colour and are told apart by
// their dashes.
std::map<std::string, std::string> method_colors(std::vector<std::string> labels);

}  // namespace longhaul
