#include "planner/accelerators.h"

#include <cctype>
#include <map>

#include "core/base/errors.h"
#include "core/base/ranges.h"

namespace longhaul {

// Peaks without sparsity: where a datasheet has only the number with it, half of that. GeForce cards run bf16
// with a float32 sum at half the rate of their boards' professional kin.
const std::vector<Accelerator>& accelerators() {
  static const std::vector<Accelerator> known = {
      {"B300", 2250e12, 270e9,
       "NVIDIA HGX B300 datasheet, 2025: 36 PFLOPS of bf16 with sparsity and 2.1 TB of eight"},
      {"B200", 2250e12, 180e9,
       "NVIDIA HGX B200 datasheet, 2024: 36 PFLOPS of bf16 with sparsity and 1.44 TB of eight"},
      {"GB300", 2500e12, 279e9,
       "NVIDIA GB300 NVL72 datasheet, 2025: 360 PFLOPS of bf16 with sparsity and 20 TB of 72; one GPU"},
      {"GB200", 2500e12, 186e9,
       "NVIDIA GB200 NVL72 datasheet, 2024: 360 PFLOPS of bf16 with sparsity and 13.4 TB of 72; one GPU"},
      {"H200", 989.4e12, 141e9,
       "NVIDIA H200 datasheet, 2024: 1979 TFLOPS of bf16 with sparsity, 141 GB (SXM)"},
      {"H100", 989.4e12, 80e9, "NVIDIA H100 datasheet, 2023: 1979 TFLOPS of bf16 with sparsity, 80 GB (SXM)"},
      {"H100-NVL", 835.5e12, 94e9,
       "tables of others that quote NVIDIA, 2024: 1671 TFLOPS of bf16 with sparsity, 94 GB; its datasheet "
       "was not seen"},
      {"H100-PCIe", 756e12, 80e9,
       "NVIDIA H100 datasheet, 2023: 1513 TFLOPS of bf16 with sparsity, 80 GB (PCIe)"},
      {"H20", 148e12, 96e9,
       "pages of others, 2024: 148 TFLOPS of 16 bits, 96 GB (another one has 141); no datasheet was seen"},
      {"A100", 312e12, 80e9, "NVIDIA A100 80GB datasheet, 2021: 312 TFLOPS of bf16"},
      {"A100-40GB", 312e12, 40e9, "NVIDIA A100 datasheet, 2020: 312 TFLOPS of bf16, 40 GB"},
      {"L40S", 362.05e12, 48e9, "NVIDIA L40S datasheet, 2023: 362.05 TFLOPS of bf16, 48 GB"},
      {"A10", 125e12, 24e9, "NVIDIA A10 datasheet, 2021: 125 TFLOPS of bf16, 24 GB"},
      {"RTX-5090", 209.5e12, 32e9,
       "NVIDIA RTX Blackwell GPU architecture whitepaper, 2025: 209.5 TFLOPS of bf16 with a float32 sum, 32 "
       "GB"},
      {"RTX-4090", 165.2e12, 24e9,
       "NVIDIA Ada GPU architecture whitepaper, 2022: 165.2 TFLOPS of bf16 with a float32 sum, 24 GB"},
      {"RTX-3090", 71e12, 24e9,
       "NVIDIA GA102 GPU architecture whitepaper, 2020: 71 TFLOPS of bf16 with a float32 sum, 24 GB"},
      {"RTX-3060", 25.5e12, 12e9,
       "as the RTX-3090 by its 28 processors at 1.777 GHz (NVIDIA's specifications, 2021): 512 operations a "
       "cycle and processor; 12 GB"},
      {"MI355X", 2516.6e12, 288e9, "AMD Instinct MI355X data sheet, 2025: 2516.6 TFLOPS of bf16, 288 GB"},
      {"MI350X", 2306.9e12, 288e9,
       "as the MI355X by its 2.2 GHz of 2.4 (AMD at Hot Chips, 2025): 4096 operations a cycle and compute "
       "unit, of 256; 288 GB"},
      {"MI325X", 1307.4e12, 256e9, "AMD Instinct MI325X data sheet, 2024: 1307.4 TFLOPS of bf16, 256 GB"},
      {"MI300X", 1307.4e12, 192e9, "AMD Instinct MI300X data sheet, 2023: 1307.4 TFLOPS of bf16, 192 GB"},
      {"TPU-v6e", 918e12, 32e9, "Google Cloud TPU v6e documentation, 2024: 918 TFLOPs of bf16, 32 GB a chip"},
      {"TPU-v5p", 459e12, 95e9, "Google Cloud TPU v5p documentation, 2023: 459 TFLOPs of bf16, 95 GB a chip"},
      {"TPU-v5e", 197e12, 16e9, "Google Cloud TPU v5e documentation, 2023: 197 TFLOPs of bf16, 16 GB a chip"},
      {"Trainium2", 667e12, 103.1e9,
       "AWS Neuron documentation, Trainium2 architecture, 2024: 667 TFLOPS of bf16, 96 GiB a chip"},
  };
  return known;
}

std::vector<std::string> accelerator_names() {
  return each_of(accelerators(), &Accelerator::name);
}

namespace {

// Small letters and digits, without what a maker and a form add to a name.
std::string bare_accelerator(std::string name) {
  std::string bare;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string word :
       {"nvidia", "amd", "instinct", "geforce", "google", "cloud", "aws", "hgx", "dgx", "tensorcore", "gpu",
        "hbm3e", "hbm3", "hbm2e", "sxm5", "sxm4", "sxm", "nvl72"})
    if (const std::size_t place = bare.find(word); place != std::string::npos) bare.erase(place, word.size());
  return bare;
}

}  // namespace

std::string accelerator_meant(const std::string& written) {
  static const std::map<std::string, std::string> others = {{"a10080gb", "A100"},
                                                            {"h10080gb", "H100"},
                                                            {"h10094gb", "H100-NVL"},
                                                            {"h200141gb", "H200"},
                                                            {"a100pcie", "A100"},
                                                            {"a10080gbpcie", "A100"},
                                                            {"h10080gbpcie", "H100-PCIe"},
                                                            {"b200180gb", "B200"},
                                                            {"4090", "RTX-4090"},
                                                            {"3090", "RTX-3090"},
                                                            {"5090", "RTX-5090"},
                                                            {"3060", "RTX-3060"},
                                                            {"rtx306012gb", "RTX-3060"},
                                                            {"v5e", "TPU-v5e"},
                                                            {"v5p", "TPU-v5p"},
                                                            {"v6e", "TPU-v6e"},
                                                            {"trillium", "TPU-v6e"},
                                                            {"trn2", "Trainium2"}};
  const std::string bare = bare_accelerator(written);
  for (const std::string& name : accelerator_names())
    if (bare == bare_accelerator(name)) return name;
  const auto other = others.find(bare);
  return other == others.end() ? written : other->second;
}

const Accelerator& accelerator_named(const std::string& name) {
  return find_named(name, accelerators(), &Accelerator::name, "accelerator.name",
                    "for another one leave the name out and give peak (FLOP/s of bf16, without sparsity) and "
                    "memory (as \"192GB\")");
}

}  // namespace longhaul
