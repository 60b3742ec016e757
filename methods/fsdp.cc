#include "methods/fsdp.h"

namespace longhaul {
namespace {

ExchangeRule gather(const std::string& pass) {
  ExchangeRule rule;
  rule.name = "gather-" + pass;
  rule.collective = "all-gather";
  rule.tensors = {"weights"};
  rule.sharded = true;
  return rule;
}

ExchangePlan plan(const MethodSpec&) {
  ExchangeRule scatter;
  scatter.name = "scatter";
  scatter.collective = "reduce-scatter";
  scatter.tensors = {"gradient"};
  return {{gather("forward"), gather("backward"), scatter}};
}

}  // namespace

Method fsdp_method() {
  return {"fsdp",
          "sharded data parallel (ZeRO-3, arXiv 1910.02054): numerics of ddp, 3(N-1)/N of the model sent "
          "every step",
          {},
          plan,
          check_exchanging,
          no_warnings};
}

}  // namespace longhaul
