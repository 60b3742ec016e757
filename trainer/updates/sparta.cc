#include "core/base/errors.h"
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

// Of the columns that travelled alone.
class Sparta : public Update {
 public:
  explicit Sparta(bool adds) : adds_(adds) {}

  void apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const override {
    const float *mean = arrived.mean("weights"), *sent = arrived.own("weights");
    const bool* travelled = arrived.travelled("weights");
    float* weights = arena.row(Slot::kWeights, replica) + arrived.begin;
    for (std::int64_t i = 0; i < arrived.size(); ++i)
      if (travelled[i]) weights[i] = adds_ ? weights[i] + (mean[i] - sent[i]) : mean[i];
  }

 private:
  const bool adds_;
};

}  // namespace

std::unique_ptr<Update> make_sparta_update(const Json& options) {
  return std::make_unique<Sparta>(options.at("arrival") == "add");
}

}  // namespace longhaul
