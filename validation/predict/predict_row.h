// Shared by predictions of all kinds of rows: the row's machine, its metric, and the shares of its time.
#pragma once

#include "analysis/host/host_model.h"
#include "hw/params.h"
#include "hw/trace.h"
#include "validation/predict/predict.h"
#include "validation/rows/metric.h"

namespace validation {

/// The instances that a row names, with changes by --set: "trn1.32xlarge", "2 x trn1.32xlarge"; "trn1" is any
/// instance of the family: the smallest, which is added to `assumed`.
hw::MachineParams machine_of(std::string instance, const PredictContext& context, std::vector<std::string>& assumed);

/// The work of one core in `times` runs of the simulated program, for the simple baselines.
DeviceWork work_of(const hw::SimResult& result, double times = 1);
/// One after the other: a repetition that consists of two programs.
DeviceWork operator+(DeviceWork a, const DeviceWork& b);

/// `measured` in the row's metric, or a skip for an unknown metric. `work`: of the device in that repetition;
/// absent for rows of the host alone.
Prediction in_row_metric(const Row& row, const Measured& measured, std::vector<std::string> assumptions,
                         std::vector<TimePart> time, DeviceWork work = {});

/// Parts of a job's time, of 1: what the step is bound by, the host or the device.
std::vector<TimePart> shares(const analysis::JobTime& job);

}  // namespace validation
