#include "trainer/operations/exchange_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/options.h"

namespace longhaul {

void ExchangeLog::begin(int step, const std::string& exchange) {
  open_ = {step, exchange, {}, {}, 0};
  sent_.clear();
}

void ExchangeLog::sent(int replica, const std::string& tensor, std::int64_t bytes) {
  sent_[replica] += bytes;
  if (std::find(open_.tensors.begin(), open_.tensors.end(), tensor) == open_.tensors.end())
    open_.tensors.push_back(tensor);
}

void ExchangeLog::end() {
  for (const auto& [replica, bytes] : sent_)
    if (bytes != sent_.begin()->second)
      throw std::logic_error(fmt::format("{}, step {}: replica {} sends {} bytes, others {}", open_.exchange,
                                         open_.step, replica, bytes, sent_.begin()->second));
  open_.bytes = sent_.empty() ? 0 : sent_.begin()->second;
  if (!out_) return records_.push_back(std::move(open_));
  *out_ << Json{{"step", open_.step},
                {"exchange", open_.exchange},
                {"groups", open_.groups},
                {"tensors", open_.tensors},
                {"bytes", open_.bytes}}
               .dump()
        << '\n';
  if (!*out_) throw unwritable("exchanges.jsonl");
}

}  // namespace longhaul
