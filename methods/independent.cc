#include "methods/independent.h"

namespace longhaul {
namespace {

ExchangePlan plan(const MethodSpec&) {
  return {};
}
void check(const Case&) {}

}  // namespace

Method independent_method() {
  return {"independent", "no exchange: the zero-communication bound", {}, plan, check, no_warnings};
}

}  // namespace longhaul
