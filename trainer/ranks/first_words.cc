#include "trainer/ranks/rank_store.h"

namespace longhaul {
namespace {

constexpr char kFailed[] = "failed", kWords[] = "first_words";

}  // namespace

void say_first_words(RankStore& store, int rank, const std::string& words) {
  try {
    if (store.count(kFailed) == 1) store.set(kWords, "rank " + std::to_string(rank) + " ended: " + words);
  } catch (const StoreLost&) {  // its keeper is gone too
  }
}

std::string first_words(RankStore& store) {
  try {
    return store.find(kWords).value_or("");
  } catch (const StoreLost&) {
    return "";
  }
}

}  // namespace longhaul
