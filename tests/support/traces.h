// Rules of plans, and traces as texts.
#pragma once

#include <sstream>
#include <string>

#include "core/plan/trace.h"

namespace longhaul {

// It sends `tensor` in bf16 after every so many steps.
inline OperationRule rule_of(const std::string& name, const std::string& collective, int every,
                             const std::string& tensor = "delta") {
  OperationRule rule{name, OperationKind::kAllReduce, collective, every};
  rule.payload = whole({tensor}, Wire::kBf16);
  return rule;
}

inline std::string text_of(const Trace& trace) {
  std::ostringstream out;
  write_trace(trace, out);
  return out.str();
}

inline Trace trace_from(const std::string& text) {
  std::istringstream in(text);
  return read_trace(in, "t.jsonl");
}

// What is read of it once it is written.
inline Trace read_back(const Trace& trace) {
  return trace_from(text_of(trace));
}

}  // namespace longhaul
