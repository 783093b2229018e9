// Records of TensorFlow's files. Source: tensorflow/core/lib/io/record_writer.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace analysis {

/// CRC-32C (Castagnoli) as the record files mask it.
std::uint32_t masked_crc32c(std::string_view bytes);
/// One record of a TFRecord file.
std::string tf_record(std::string_view bytes);

}  // namespace analysis
