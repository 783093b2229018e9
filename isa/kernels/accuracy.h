// How far each ScalarE function may be from its exact value: measured over the whole range by
// tests/isa/kernels_math_test.cpp, which reads this table.
#pragma once

#include <array>

#include "isa/instr.h"

namespace isa::kernels {

/// For x in [low, high]: at most `ulps` units in the last place of max(|exact|, floor). The floor is 0 (the smallest
/// normal number) where the relative error is bounded everywhere; else results below it lose relative precision.
struct Accuracy {
  Fn fn;
  double ulps;
  double floor;
  double low, high;
};

inline constexpr double kLargest = 3.4028234663852886e38;
inline constexpr std::array<Accuracy, kFnCount> kAccuracy{{
    {Fn::kCopy, 0, 0, -kLargest, kLargest},
    {Fn::kSquare, 0.5, 0, -kLargest, kLargest},
    {Fn::kSigmoid, 3, 0, -80, kLargest},
    {Fn::kRelu, 0, 0, -kLargest, kLargest},
    {Fn::kGelu, 4, 0x1p-3, -kLargest, kLargest},
    {Fn::kGeluTanh, 4, 0x1p-3, -kLargest, kLargest},
    {Fn::kGeluSigmoid, 4, 0x1p-3, -kLargest, kLargest},
    {Fn::kGeluSigmoidGrad, 5, 0x1p-3, -kLargest, kLargest},
    {Fn::kGeluGrad, 5, 0x1p-3, -kLargest, kLargest},
    {Fn::kGeluTanhGrad, 5, 0x1p-3, -kLargest, kLargest},
    {Fn::kSilu, 4, 0, -80, kLargest},
    {Fn::kSiluGrad, 4, 0x1p-3, -kLargest, kLargest},
    {Fn::kTanh, 2, 0, -kLargest, kLargest},
    {Fn::kTanhGrad, 4, 0, -40, 40},
    {Fn::kSoftplus, 4, 0, -80, kLargest},
    {Fn::kMish, 4, 0, -80, kLargest},
    {Fn::kErf, 2, 0, -kLargest, kLargest},
    {Fn::kErfGrad, 3, 0, -9, 9},
    {Fn::kExp, 2, 0, -87, 88.7},
    {Fn::kLog, 2, 0, 0x1p-126, kLargest},
    {Fn::kSin, 2, 0x1p-20, -3.1415927, 3.1415927},
    {Fn::kArctan, 3, 0, -kLargest, kLargest},
    {Fn::kSqrt, 0.5, 0, 0, kLargest},
    {Fn::kRsqrt, 1.5, 0, 0x1p-126, kLargest},
    {Fn::kReciprocal, 0.5, 0, 0x1p-126, 0x1p125},
    {Fn::kSign, 0, 0, -kLargest, kLargest},
    {Fn::kAbs, 0, 0, -kLargest, kLargest},
}};

}  // namespace isa::kernels
