// What is published of accelerators that people train on. No prices: those are the user's.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

struct Accelerator {
  std::string name;
  double peak = 0;    // FLOP/s of dense products in bf16, accumulated in float32
  double memory = 0;  // bytes
  std::string source;
};

const std::vector<Accelerator>& accelerators();
std::vector<std::string> accelerator_names();

// Throws InputError at accelerator.name naming the nearest for one that is not in the table.
const Accelerator& accelerator_named(const std::string& name);

}  // namespace longhaul
