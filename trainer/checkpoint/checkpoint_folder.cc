#include "trainer/checkpoint/checkpoint_folder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/options.h"
#include "trainer/checkpoint/durable_file.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 3;
constexpr char kHashLine[] = "  \"hash\": \"";

[[noreturn]] void refuse(const std::string& file, const std::string& found,
                         const std::string& allowed = "a whole checkpoint") {
  throw InputError({file, "", found, allowed, ""});
}

// The last line holds the hash of all bytes before it.
std::string with_hash(const Json& state) {
  std::string text = state.dump(2);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n";
  return text + kHashLine + hex64(fnv1a(text)) + "\"}\n";
}

Json state_in(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) refuse(file, "cannot be read");
  const std::size_t line = text.rfind(kHashLine);
  if (line == std::string::npos ||
      text.substr(line) != kHashLine + hex64(fnv1a(text.substr(0, line))) + "\"}\n")
    refuse(file, "is damaged: its hash differs from the one it carries");
  const Json state = parse_json(text);
  if (member(state, "longhaul_checkpoint") != kFormat)
    refuse(file, "is of another format", "\"longhaul_checkpoint\": " + std::to_string(kFormat));
  return state;
}

// XXH3, 64 bits, of what was added.
class TensorHash {
 public:
  TensorHash() { XXH3_64bits_reset(&state_); }
  void add(const void* data, std::size_t bytes) { XXH3_64bits_update(&state_, data, bytes); }
  std::string digits() const { return hex64(XXH3_64bits_digest(&state_)); }

 private:
  XXH3_state_t state_;
};

std::string hash_of(SafetensorsFile& tensors, const SafetensorsFile::Entry& entry) {
  std::vector<char> piece(1 << 20);
  TensorHash hash;
  for (std::int64_t at = 0; at < entry.bytes; at += static_cast<std::int64_t>(piece.size())) {
    const std::int64_t count = std::min(entry.bytes - at, static_cast<std::int64_t>(piece.size()));
    tensors.read(entry, at, count, piece.data());
    hash.add(piece.data(), as_index(count));
  }
  return hash.digits();
}

// Each tensor is read once: what lives in other processes does not come twice. Returns {tensor: hash}.
Json write_and_hash(const std::string& file, const std::vector<TensorView>& tensors) {
  std::vector<TensorHash> hashes(tensors.size());
  std::vector<TensorView> hashed;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& tensor = tensors[i];
    TensorHash& hash = hashes[i];
    hashed.push_back({tensor.name, tensor.dtype, tensor.shape, nullptr, [&](const ByteSink& sink) {
                        tensor.read([&](const void* data, std::size_t bytes) {
                          hash.add(data, bytes);
                          sink(data, bytes);
                        });
                      }});
  }
  write_safetensors(file, hashed);
  Json names = Json::object();
  for (std::size_t i = 0; i < tensors.size(); ++i) names[tensors[i].name] = hashes[i].digits();
  return names;
}

std::string name_of(int step) {
  return "step-" + std::to_string(step);
}

// N of a file named step-N.EXTENSION…, -1 for any other.
int step_of(const fs::path& file) {
  const std::string name = file.filename().string();
  int step = -1;
  if (name.rfind("step-", 0) == 0) std::from_chars(name.data() + 5, name.data() + name.size(), step);
  return step;
}

// The JSON of a checkpoint first: without its JSON a checkpoint does not exist.
void remove_all_but(const std::string& folder, const std::set<int>& kept) {
  std::vector<fs::path> others;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (step_of(entry.path()) >= 0 && !kept.count(step_of(entry.path()))) others.push_back(entry.path());
  std::stable_partition(others.begin(), others.end(),
                        [](const fs::path& file) { return file.extension() == ".json"; });
  for (const fs::path& file : others) fs::remove(file, error);
}

}  // namespace

std::vector<int> checkpoint_steps(const std::string& folder) {
  std::vector<int> steps;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json" && step_of(entry.path()) >= 0)
      steps.push_back(step_of(entry.path()));
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

namespace {

// With a hash that is right it may still be of another program.
Json checked_state_in(const std::string& file) {
  static const Node declaration =
      section("", {integer("step").at_least(0).required(), text("training"),
                   table_of("tensors", text("")).required(), table_of("files", large_integer(""))});
  try {
    Json state = state_in(file);
    check_declared(declaration, state, "");
    return state;
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
}

}  // namespace

Checkpoint read_checkpoint(const std::string& json_file) {
  Checkpoint checkpoint{0, checked_state_in(json_file), ""};
  checkpoint.step = checkpoint.state.at("step");
  checkpoint.tensors_file = fs::path(json_file).replace_extension(".safetensors").string();
  SafetensorsFile tensors(checkpoint.tensors_file);
  for (const auto& [name, hash] : checkpoint.state.at("tensors").items())
    if (hash_of(tensors, tensors.entry(name)) != hash)
      refuse(checkpoint.tensors_file, "is damaged: the hash of \"" + name + "\" differs from that in " +
                                          fs::path(json_file).filename().string());
  return checkpoint;
}

CheckpointFolder::CheckpointFolder(const std::string& training_folder, std::string training)
    : training_folder_(training_folder),
      folder_(training_folder + "/checkpoints"),
      training_(std::move(training)) {}

void CheckpointFolder::clear() {
  remove_all_but(folder_, {});
}

void CheckpointFolder::write(int step, Json state, const std::vector<TensorView>& tensors) {
  std::error_code error;
  fs::create_directories(folder_, error);
  state["longhaul_checkpoint"] = kFormat;
  state["training"] = training_;
  state["step"] = step;
  state["tensors"] = write_and_hash(tensors_file(step), tensors);
  write_durably(json_file(step), with_hash(state));
  std::set<int> kept = {step};
  for (int other : checkpoint_steps(folder_))
    if (other < step && kept.size() < 2) kept.insert(other);
  remove_all_but(folder_, kept);
}

void CheckpointFolder::keep_only(int step) {
  remove_all_but(folder_, {step});
}

std::optional<Checkpoint> CheckpointFolder::newest(std::vector<std::string>& refused) const {
  for (int step : checkpoint_steps(folder_)) {
    try {
      Checkpoint checkpoint = read_checkpoint(json_file(step));
      check_belongs(checkpoint);
      return checkpoint;
    } catch (const InputError& error) {
      refused.push_back(error.what());
    } catch (const Json::exception& error) {
      refused.push_back(in_our_words(error).in_file(json_file(step)).what());
    }
  }
  return std::nullopt;
}

void CheckpointFolder::check_belongs(const Checkpoint& checkpoint) const {
  const std::string file = json_file(checkpoint.step);
  if (checkpoint.state.at("training") != training_)
    refuse(file, "belongs to another training, " + checkpoint.state["training"].dump(),
           "\"" + training_ + "\"");
  for (const auto& [table, bytes] : checkpoint.state.at("files").items()) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(training_folder_ + "/" + table, error);
    if (error || size < bytes.get<std::uintmax_t>())
      refuse(file, table + " is shorter than it was at this checkpoint", bytes.dump() + " bytes or more");
  }
}

std::string CheckpointFolder::json_file(int step) const {
  return folder_ + "/" + name_of(step) + ".json";
}

std::string CheckpointFolder::tensors_file(int step) const {
  return folder_ + "/" + name_of(step) + ".safetensors";
}

namespace {

// `before` and `after` the value that was found; `allowed` before that of the checkpoint.
struct Fact {
  const char *key, *path, *before, *after, *allowed, *instead;
};
constexpr Fact kFacts[] = {
    {"corpus_hash", "train.data", "the text is not the one of the checkpoint (its hash is ", ")", "hash ",
     ""},
    {"device", "train.device", "found \"", "\", which gives other bits", "as the checkpoint: ", ""},
    {"arithmetic", "--backend", "works ", ", which gives other bits",
     "as the checkpoint: ", "use the other back-end or number of ranks, or "},
    {"journal", "--journal", "the journal is not the one of the checkpoint (", ")", "", ""},
    {"sequences_at_once", "", "the GPU's free memory is enough for ",
     " sequences of a replica together, which gives other sums",
     "as the checkpoint: ", "use a card with as much free memory, or "},
    {"libraries", "", "the libraries are ", ", which may give other bits than those of the checkpoint", "",
     "use these, or "},
};

}  // namespace

void check_same_run(const Json& now, const Json& checkpoint, const std::string& folder) {
  for (const Fact& fact : kFacts) {
    if (!now.contains(fact.key) || !checkpoint.contains(fact.key)) continue;
    const Json &found = now[fact.key], &wanted = checkpoint[fact.key];
    if (found != wanted)
      throw InputError(fact.path, fact.before + plain(found) + fact.after, fact.allowed + plain(wanted),
                       fact.instead + ("remove " + folder) + "/checkpoints to begin anew");
  }
}

void check_agreement(Ranks& ranks, const Json& mine) {
  if (ranks.size() == 1) return;
  const std::vector<std::string> all = gather(ranks, mine.dump());
  const Json expected = Json::parse(all[0]);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const Json other = Json::parse(all[rank]);
    for (const auto& [what, value] : expected.items())
      if (other.value(what, Json()) != value)
        throw InputError(
            {"", "", "rank " + std::to_string(rank) + " has " + what + " " + other.value(what, Json()).dump(),
             value.dump() + ", as rank 0",
             "all ranks need the same case, text, device and libraries, or their bits differ"});
  }
}

void share_checkpoint(Ranks& ranks, std::optional<Checkpoint>& checkpoint) {
  if (ranks.size() == 1) return;
  const Json mine = checkpoint ? Json{{"step", checkpoint->step}, {"state", checkpoint->state}} : Json();
  const Json shared = Json::parse(broadcast(ranks, 0, mine.dump()));
  if (!ranks.is_first() && !shared.is_null()) checkpoint = Checkpoint{shared["step"], shared["state"], ""};
}

}  // namespace longhaul
