// The target that tests compile for unless they say another one.
#pragma once

#include "hw/params.h"

namespace {

inline const isa::Target& trn1_target() {
  static const isa::Target target = hw::load_machine("trn1.2xlarge").target();
  return target;
}

}  // namespace
