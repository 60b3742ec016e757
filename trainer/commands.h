// `longhaul-train export`: one replica, or the mean of all, as a folder that transformers loads
// (LlamaForCausalLM): model.safetensors with Hugging Face's names and config.json.
//
// The decoder turns halves, (x_i, x_{i + d/2}), as transformers' rotate_half does, and keeps its matrices
// [out, in]: nothing is permuted or transposed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace longhaul {

struct ExportArguments {
  // A run directory, of which `method` (its label) and `seed` single out a training; or a training,
  // train/KEY: its newest whole checkpoint; or a checkpoint, step-N.json.
  std::string run;
  std::optional<int> replica;  // none: the mean
  bool mean = false;
  std::string out;  // folder
  std::string method = {};
  std::optional<std::uint64_t> seed = {};
};

// Throws InputError where there is no whole checkpoint, or it has no such replica. Returns the step whose
// weights were written.
int run_export(const ExportArguments& arguments);

// The name in transformers of a parameter of the layout ("layers.0.attention.query" →
// "model.layers.0.self_attn.q_proj.weight").
std::string huggingface_name(const std::string& parameter);

// `longhaul-train outer-step`: one outer step of a method on tensors of the user's, so that anyone can hold
// our numerics against another implementation. It runs the code that a training runs.

struct OuterStepArguments {
  std::string method, in, out, wire = "fp32";
  std::vector<std::string> assignments;  // "alpha=0.5": the method's own options
  int step = 1;            // of methods whose steps differ, or that have an optimizer of their own
  double lr = 1e-3;        // of the latter
  std::uint64_t seed = 1;  // of what is drawn for the step
  std::string model = {};  // dimensions as in train.model, JSON; empty: P columns of nothing known
  bool first = false;      // the first round of a method whose messages are a round late: none has arrived
};

// Carries out the operations of one round on float32 tables [R, P] and writes the tables after it:
//   theta     the weights
//   phi, momentum, …   the rows that the method keeps (docs/methods.md); `momentum` is δ (NoLoCo, heavy-ball
//             DiLoCo) or v (Nesterov)
//   gradient  of methods that exchange it
//   error, sent_mean, server_error   of codecs that feed back (core/codecs/codec.h)
// and int64 `groups` [G, n], disjoint, which methods with groups need. Where groups are drawn a row in none
// of them takes the step of a group of one, as in a training whose replicas n does not divide; else it stays
// as it is. For other methods the group is everyone, or those that the file has. Merges (decoupled-diloco)
// are made with equal shares, one for each group in their order; rows of `phi` and `momentum` are alike then:
// the synchronizer's. Without --model all columns are one tensor; `targets` [R, s], by replica whom it sends
// to, of methods that draw those. What an overlapped operation sent is made of `posted.theta`, `posted.phi`,
// … where the file has them. A method with an optimizer of its own takes its whole step from `gradient`,
// without clipping and decay, Adam's β 0.9 and 0.95; what it keeps from step to step is `first_moment` and
// `second_moment`. Where units are dealt anew (ist) the step must be one that ends a round, and the two
// moments are wanted too. With `first` a round is posted and none arrives: what eager-diloco, dilocox and co2
// do at the end of their first round. Throws InputError for anything else.
void run_outer_step(const OuterStepArguments& arguments);

}  // namespace longhaul
