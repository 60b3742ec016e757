#include "methods/common/tensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr std::int64_t kMiB = 8 << 20;  // bits

// What one operation carries: so many bits, from this column of the model on.
struct Piece {
  std::int64_t bits = 0, begin = 0;
};

// Columns of [begin, end) that are in `columns`.
std::int64_t columns_inside(const Columns& columns, std::int64_t begin, std::int64_t end) {
  std::int64_t count = 0;
  for (const ColumnRange& range : columns)
    count += std::max<std::int64_t>(0, std::min(end, range.end) - std::max(begin, range.begin));
  return count;
}

// The parameter tensors of which the rule has columns.
std::vector<Piece> tensors_of(const OperationRule& rule, const PlannedModel& model) {
  std::vector<Piece> tensors;
  for (const PayloadPart& part : rule.payload) {
    const Columns columns = ranges_of(part.columns, model.parameters);
    const std::int64_t all = column_count(columns, model.parameters);
    const double bits = 8. * static_cast<double>(encoded_bytes(part.codec, all)) / static_cast<double>(all);
    for (const ColumnRange& tensor : model.tensors) {
      const std::int64_t count = columns_inside(columns, tensor.begin, tensor.end);
      const std::int64_t each = std::llround(bits * static_cast<double>(count));
      if (count > 0) tensors.push_back({std::max<std::int64_t>(1, each), tensor.begin});
    }
  }
  return tensors;
}

std::vector<Piece> buckets_of(const std::vector<Piece>& tensors, std::int64_t first_bits,
                              std::int64_t later_bits) {
  std::vector<Piece> buckets;
  bool is_open = false;
  for (const Piece& tensor : tensors) {
    if (!is_open) buckets.emplace_back();
    buckets.back().bits += tensor.bits;
    buckets.back().begin = tensor.begin;
    is_open = buckets.back().bits < (buckets.size() == 1 ? first_bits : later_bits);
  }
  return buckets;
}

bool is_size(const std::string& word) {
  return word != "each" && word != "together" && word != "ddp";
}

// In the order of the backward pass where that releases them, and for buckets.
std::vector<Piece> pieces_of(const OperationRule& rule, const std::string& word, const PlannedModel& model) {
  std::vector<Piece> tensors = tensors_of(rule, model);
  const bool is_filled = word == "ddp" || is_size(word);
  if (is_filled || rule.overlap_backward > 0)
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const Piece& one, const Piece& other) { return one.begin > other.begin; });
  if (word == "ddp") return buckets_of(tensors, kMiB, 25 * kMiB);
  if (!is_filled) return tensors;
  const std::int64_t bits = std::llround(8 * parse_bytes(word));
  return buckets_of(tensors, bits, bits);
}

// The backward pass of the rule's stage, or of the model, takes as long for each column: a bucket may go when
// it is through with the first one.
void release_by_columns(const std::vector<Piece>& pieces, const Columns& way, OperationRule& rule) {
  rule.buckets = static_cast<int>(pieces.size());
  rule.releases.clear();
  const auto all = static_cast<double>(column_count(way, 0));
  for (const Piece& piece : pieces)
    rule.releases.push_back(rule.overlap_backward * static_cast<double>(columns_inside(way, 0, piece.begin)) /
                            all);
}

bool is_split(const OperationRule& rule) {
  const bool is_average = rule.kind == OperationKind::kAllReduce || rule.kind == OperationKind::kAllGather;
  return is_average && !rule.sharded && !rule.payload.empty();
}

// DDP's first iteration, in one bucket. The rule itself begins with the second one.
OperationRule first_iteration(OperationRule& rule) {
  OperationRule first = rule;
  first.name += ".first";
  first.last_step = 1;
  first.overlap_backward = 0;
  first.buckets = 1;
  first.releases.clear();
  rule.first_step = 2;
  return first;
}

}  // namespace

std::vector<ColumnRange> tensors_of_layout(const std::vector<Parameter>& layout) {
  std::vector<ColumnRange> tensors;
  for (const Parameter& parameter : layout)
    for (std::int64_t copy = 0; copy < parameter.copies; ++copy) {
      const std::int64_t size = parameter.rows * parameter.columns, begin = parameter.offset + copy * size;
      tensors.push_back({begin, begin + size});
    }
  return tensors;
}

std::vector<ColumnRange> tensors_of_sizes(const std::vector<std::int64_t>& sizes) {
  std::vector<ColumnRange> tensors;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    tensors.push_back({begin, begin + size});
    begin += size;
  }
  return tensors;
}

Node tensors_option() {
  return either("tensors", {choice("", {"flat", "each", "together", "ddp"}), bytes("").at_least(1)})
      .by_default("flat")
      .timing_only()
      .means(
          "how many operations one average is. flat: one, of the whole vector; each: one for every "
          "parameter tensor, one after another; together: one for every tensor, handed over at once, of "
          "which the library runs some at a time; a size: buckets of whole tensors, each closed once it "
          "has that size, handed over at once, as DDP with bucket_cap_mb; ddp: the same with DDP's own "
          "sizes. All but flat need a model or workload.tensors. With overlap_backward the backward pass "
          "releases them one "
          "by one, instead of buckets. The default is the library's own");
}

void split_by_tensors(const Json& options, const PlannedModel& model, OperationPlan& plan) {
  const std::string word = options.value("tensors", "flat");
  if (word == "flat") return;
  if (model.tensors.empty())
    throw InputError("method.tensors", fmt::format("found \"{}\" without a model", word), "\"flat\"",
                     "workload.parameters says nothing of tensors: give workload.model, a preset (longhaul "
                     "list models) or dimensions; or list them in workload.tensors. \"together\" is what "
                     "network.library torchft takes where nothing is said");
  std::vector<OperationRule> rules;
  for (OperationRule& rule : plan.rules) {
    const std::vector<Piece> pieces = is_split(rule) ? pieces_of(rule, word, model) : std::vector<Piece>();
    if (pieces.size() > as_index(kMostBuckets))
      throw InputError("method.tensors", fmt::format("found \"{}\" with {} tensors", word, pieces.size()),
                       fmt::format("at most {} operations", kMostBuckets),
                       "a size, as \"25MiB\", fills buckets with several tensors");
    const bool is_rebuilt = word == "ddp" || is_size(word);
    const bool begins_at_once = rule.before_optimizer && rule.every == 1 && rule.first_step == 1;
    if (pieces.size() > 1 && is_rebuilt && begins_at_once && rule.last_step != 1)
      rules.push_back(first_iteration(rule));
    if (!pieces.empty()) {
      rule.sizes.clear();
      for (const Piece& piece : pieces) rule.sizes.push_back(piece.bits);
      rule.together = word != "each";
      const Columns way = rule.stage >= 0 ? plan.pipeline.columns_of(rule.stage) : Columns{};
      if (rule.overlap_backward > 0) release_by_columns(pieces, ranges_of(way, model.parameters), rule);
    }
    rules.push_back(std::move(rule));
  }
  plan.rules = std::move(rules);
}

}  // namespace longhaul
