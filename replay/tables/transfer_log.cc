#include "replay/tables/transfer_log.h"

#include "core/index.h"

namespace longhaul {

TransferLog::TransferLog(const std::string& folder, const std::vector<OperationRule>& rules)
    : rules_(rules),
      out_(folder + "/transfers.csv", {"step", "exchange", "from", "to", "start_s", "done_s", "bytes"}) {}

void TransferLog::add(const TransferRow& row) {
  out_.cell(row.step).cell(rules_[as_index(row.rule)].name).cell(row.from).cell(row.to);
  out_.cell(row.start_s).cell(row.done_s).cell(row.bytes).end_row();
}

}  // namespace longhaul
