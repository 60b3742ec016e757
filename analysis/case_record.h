// One case in numbers: its record in summary.json.
#pragma once

#include <string>

#include "core/base/options.h"
#include "core/scenario/case.h"

namespace longhaul {

// The record of a case from the files in its folder and in its training's. Times in seconds, sizes in bytes.
//
// `status` is "done", "failed" or "interrupted". `train_folder` and `training` (the training's key) are empty
// where nothing is trained. What cannot be read (a case that did not finish) is left out of the record.
//
//   case, status, method, label, seed, replicas, fidelity
//   swept                   {dotted key: value}; and each dotted key once more at the top
//   parameters              of the method
//   collective              its all_reduce, or its pattern, or null
//   rank_order              "blocks", ..., "list": of the replicas over the sites, where there are sites
//   model_parameters        of what travels
//   sitting_out             replicas in no group at an outer step, where groups are drawn and leave some over
//   exchanges               outer steps
//   bytes_per_sync          payload of one replica in an outer step, mean, with what is sent ahead for it
//   sync_time_s, wait_s, exposed_s
//                           {mean, p50, p95, max} over synchronizations (exchange_table.h) and replicas; null
//                           without any
//   rules                   {name: {sync_time_s, wait_s, exposed_s}} where exchanges overlap with compute
//   sync_breakdown_s        {part: mean}: their sum is sync_time_s.mean
//   compute_time_s, exchange_time_s, wait_time_s
//                           of one replica in the whole run, mean; their sum is its clock
//   idle_fraction           {mean, max} over replicas
//   bytes_sent_per_replica  payload in the whole run
//   bytes_per_token         the same over the replica's own tokens, where the scenario says how many
//   simulated_time_s        the latest clock
//   accelerator_hours, step_time_s, tokens_per_s
//                           where the scenario says how many tokens a step has
// and where it trained
//   training                the key
//   final_loss, final_loss_of_mean, best_loss, weight_spread, tokens
//   perplexity              exp of final_loss
//   final_loss_sampling_error, evaluated_sequences
//   trained_parameters, unigram_entropy, source_entropy
//   target_loss             where there is one
//   time_to_target_s        null if never reached
//
// Where the folder holds a record (keep_totals) it is that.
Json case_record(const Case& config, const std::string& case_folder, const std::string& train_folder,
                 const std::string& status, const std::string& training);

// Writes the record of a finished case into its folder (record.json), and removes the tables that have a row
// for each exchange, step, message or link: of a large sweep only these numbers are looked at.
void keep_totals(const std::string& case_folder, const Json& record);

}  // namespace longhaul
