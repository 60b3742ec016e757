#include "trainer/updates/fsdp.h"

#include "trainer/updates/ddp.h"

namespace longhaul {
namespace {

class FsdpUpdate : public Update {
 public:
  bool averages_gradients() const override { return true; }

  void exchange(const Exchange& exchange, Replicas& replicas) override {
    exchange.rule->sharded ? gather(exchange, replicas) : average_->exchange(exchange, replicas);
  }

 private:
  static void gather(const Exchange& exchange, Replicas& replicas) {
    replicas.log.begin(exchange.post_step, exchange.rule->name);
    const std::int64_t parameters = replicas.arena.parameters();
    for (const std::vector<int>& group : sorted_groups(exchange, replicas.arena.replicas())) {
      const std::int64_t columns =
          contributed_elements(*exchange.rule, parameters, static_cast<int>(group.size()));
      replicas.log.group(group);
      for (const int replica : group)
        replicas.log.sent(replica, "weights", columns * bytes_per_parameter(replicas.wire));
    }
    replicas.log.end();
  }

  std::unique_ptr<Update> average_ = make_ddp_update();
};

}  // namespace

std::unique_ptr<Update> make_fsdp_update() {
  return std::make_unique<FsdpUpdate>();
}

}  // namespace longhaul
