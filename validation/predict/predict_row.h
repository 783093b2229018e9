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

/// Those of a row that is a job. The runtime of Trainium2 joins two cores to a logical one unless it is told otherwise;
/// a job on more cores of an instance than there are then has physical ones.
hw::MachineParams machine_of_job(const TrainingRow& job, const PredictContext& context,
                                 std::vector<std::string>& assumed);

/// For what runs on one physical core: a kernel, an instruction, a transfer.
PredictContext on_physical_cores(PredictContext context);

/// The work of one core in `times` runs of the simulated program, for the simple baselines.
DeviceWork work_of(const hw::SimResult& result, double times = 1);
/// One after the other: a repetition that consists of two programs.
DeviceWork operator+(DeviceWork a, const DeviceWork& b);

/// `measured` in the row's metric, or a skip for an unknown metric. `work`: of the device in that repetition;
/// absent for rows of the host alone.
Prediction in_row_metric(const Row& row, const Measured& measured, std::vector<std::string> assumptions,
                         std::vector<TimePart> time, DeviceWork work = {});

/// Parts of a job's time, of 1: the bound of the step, host or device.
std::vector<TimePart> shares(const analysis::JobTime& job);

}  // namespace validation
