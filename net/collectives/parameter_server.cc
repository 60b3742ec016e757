// All-reduce at a parameter server: everyone sends its whole vector to member 0, which answers with the
// result.
//
// A member other than 0 sends B, member 0 sends (n−1) · B over its one link.
// Idle star, exact: 2 · (latency + (n−1) · B / rate); in S slices 2 · latency + (1 + 1/S) · (n−1) · B / rate.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class ParameterServer : public Collective {
 public:
  ParameterServer()
      : Collective("parameter-server",
                   "all-reduce at the first replica: whole vectors there and back, all over its one link",
                   Unit::kVector) {}
  int rounds(const GroupExchange&) const override { return 2; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    return root_->round({exchange.members, exchange.bytes}, member, index);
  }

 private:
  std::int64_t vectors(const GroupExchange& exchange) const override { return 2 * (exchange.members - 1); }

  std::unique_ptr<Collective> root_ = make_root();  // of one tensor
};

}  // namespace

const MakeCollective make_parameter_server = make_collective<ParameterServer>;

}  // namespace longhaul
