// Conversions of the machine's parameters: targets of programs, and peaks of records.
#pragma once

#include "hw/machine_params.h"
#include "hw/trace.h"
#include "isa/target.h"
