// Files of measurements between sites, as a command line or a plan names them.
#pragma once

#include <string>
#include <vector>

#include "planner/measured/measurement.h"
#include "planner/plan_request.h"

namespace longhaul {

// Folders and patterns resolved, in the order of names; each file once. Throws InputError where one has no
// files.
std::vector<std::string> measurement_files(const std::vector<std::string>& named);

// Its bytes, decompressed. Throws InputError.
measured::MeasurementFile read_measurement_file(const std::string& file);

// All that measurement_files() of `named` say of the sites. Throws InputError.
std::vector<measured::Measured> read_measurements(const std::vector<std::string>& named,
                                                  const measured::Sites& sites);

// The matrix of the plan's measurements; `warnings` get what a reader should know. Throws InputError.
Json measured_sites(const PlanRequest& plan, std::vector<std::string>& warnings);

}  // namespace longhaul
