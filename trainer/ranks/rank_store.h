// Texts by name that all ranks of a training see: how they find each other before they are connected, and
// where the one that fails first says why.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/errors.h"
#include "trainer/ranks/rank_environment.h"

namespace longhaul {

// The process that keeps the store is gone.
class StoreLost : public RunError {
 public:
  using RunError::RunError;
};

// Every function throws StoreLost.
class RankStore {
 public:
  virtual ~RankStore() = default;
  virtual void set(const std::string& key, const std::string& text) = 0;
  virtual std::optional<std::string> find(const std::string& key) = 0;
  // How often `key` was counted, this time included.
  virtual std::int64_t count(const std::string& key) = 0;
};

// LibTorch's TCPStore at MASTER_ADDR and MASTER_PORT: kept by rank 0, or by torchrun, which then listens
// there itself. Waits `patience_s` for it. Throws RunError where there is no connection or rank 0 cannot
// listen there, and Interrupted.
std::unique_ptr<RankStore> open_c10d_store(const RankEnvironment& environment, int patience_s);

// For the other ranks: why this one ends. Of several the first says it; the others then fail because of it.
void say_first_words(RankStore& store, int rank, const std::string& words);
// Of the rank that failed first; empty while none did, and where the store is lost.
std::string first_words(RankStore& store);

}  // namespace longhaul
