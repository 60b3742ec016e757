#include "methods/ddp.h"

namespace longhaul {
namespace {

ExchangePlan plan(const MethodSpec& method) {
  ExchangeRule gradient;
  gradient.name = "gradient";
  gradient.collective = method.options.at("all_reduce");
  gradient.every = 1;
  gradient.tensors = {"gradient"};
  return {{gradient}};
}

}  // namespace

Method ddp_method() {
  return {"ddp",      "all-reduce of the gradients every step", {all_reduce_option()}, plan, check_exchanging,
          no_warnings};
}

}  // namespace longhaul
