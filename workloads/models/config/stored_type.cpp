#include "workloads/models/config/stored_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/suggest.h"

namespace workloads {
namespace {

using nlohmann::json;

/// PyTorch's types by their names. transformers takes any of them from a file, and "auto" for that of the weights. A
/// type with a problem is refused for it.
struct StoredType {
  std::string_view name, problem{};
};
constexpr std::string_view kScaled = "needs scales beside its weights: quantized weights are not supported",
                           kWhole = "is a type of whole numbers, which weights of layers cannot have",
                           kComplex = "is a type of complex numbers, which weights of layers cannot have";
constexpr auto kTypes = std::to_array<StoredType>({
    {"auto"},
    {"bfloat16"},
    {"float16"},
    {"half"},
    {"float32"},
    {"float"},
    {"float64"},
    {"double"},
    {"float8_e4m3fn", kScaled},
    {"float8_e4m3fnuz", kScaled},
    {"float8_e5m2", kScaled},
    {"float8_e5m2fnuz", kScaled},
    {"float8_e8m0fnu", kScaled},
    {"float4_e2m1fn_x2", kScaled},
    {"qint8", kScaled},
    {"quint8", kScaled},
    {"qint32", kScaled},
    {"int1", kScaled},
    {"int2", kScaled},
    {"int4", kScaled},
    {"int8", kScaled},
    {"uint1", kScaled},
    {"uint2", kScaled},
    {"uint4", kScaled},
    {"uint8", kScaled},
    {"bool", kWhole},
    {"int16", kWhole},
    {"short", kWhole},
    {"int32", kWhole},
    {"int", kWhole},
    {"int64", kWhole},
    {"long", kWhole},
    {"uint16", kWhole},
    {"uint32", kWhole},
    {"uint64", kWhole},
    {"complex32", kComplex},
    {"complex64", kComplex},
    {"complex128", kComplex},
});

void refuse(const Keys& keys, const char* key) {
  if (!keys.has(key)) return;
  const json& value = keys.at(key);
  const auto* row =
      value.is_string() ? std::ranges::find(kTypes, value.get<std::string>(), &StoredType::name) : kTypes.end();
  if (row == kTypes.end()) {
    std::vector<std::string> names;
    for (const StoredType& type : kTypes)
      if (type.problem.empty()) names.emplace_back(type.name);
    keys.fail(fmt::format("\"{}\" is {}, no type of PyTorch", key, value.dump()),
              value.is_string() ? base::suggest_fix(value.get<std::string>(), names)
                                : "write the type that the weights are stored in, such as \"bfloat16\"");
  }
  if (!row->problem.empty())
    keys.fail(fmt::format("\"{}\" is \"{}\", which {}", key, row->name, row->problem),
              "use the folder of the original model in bf16, fp16 or fp32");
}

}  // namespace

void refuse_stored_type(const Keys& keys) {
  refuse(keys, "torch_dtype");
  refuse(keys, "dtype");
}

}  // namespace workloads
