#include "trainer/checkpoint/same_run.h"

#include "core/base/errors.h"

namespace longhaul {
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

}  // namespace longhaul
