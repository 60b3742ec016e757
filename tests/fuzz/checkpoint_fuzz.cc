// Checkpoints: the JSON file gets the hash that it should carry, so that the reader goes on behind it; the
// tensors stand beside it. An input of one part is the JSON, as it is.
#include <fmt/core.h>

#include "core/base/hash.h"
#include "tests/fuzz/fuzz.h"
#include "trainer/checkpoint/checkpoint_folder.h"

void longhaul::read_input(const std::string& input) {
  std::string json = input, tensors;
  for (const auto& [name, text] : files_in(input)) {
    if (name == "tensors") tensors = text;
    if (name == "json") json = text + "  \"hash\": \"" + hex64(fnv1a(text)) + "\"}\n";
  }
  const std::string folder = scratch_folder() + "/checkpoints";
  std::filesystem::create_directories(folder);
  file_with("table.csv", "step\n");
  file_with("checkpoints/step-4.safetensors", tensors);
  file_with("checkpoints/step-4.json", json);
  allow_errors([&] { read_checkpoint(folder + "/step-4.json"); });
  std::vector<std::string> refused;
  if (!CheckpointFolder(scratch_folder(), "key").newest(refused) && refused.empty()) abort();
}
