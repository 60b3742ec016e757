// Accelerators that people train on, with what is published of them.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

// What is published of accelerators that people train on. No prices: those are the user's.
struct Accelerator {
  std::string name;
  double peak = 0;    // FLOP/s of dense products in bf16, accumulated in float32
  double memory = 0;  // bytes
  std::string source;
};

const std::vector<Accelerator>& accelerators();

std::vector<std::string> accelerator_names();

// The name in the table that people mean by "NVIDIA H100 SXM", "A100-80GB" or "rtx 4090"; as written if there
// is none.
std::string accelerator_meant(const std::string& written);

// Throws InputError at accelerator.name naming the nearest for one that is not in the table.
const Accelerator& accelerator_named(const std::string& name);

}  // namespace longhaul
