// Files in protocol buffers as JSON, by protobuf's own decoder and a schema in tests/analysis/data.
#pragma once

#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace proto_json {

using Json = nlohmann::json;

class Schema : google::protobuf::compiler::MultiFileErrorCollector {
 public:
  explicit Schema(const std::string& file) {
    tree_.MapPath("", std::string{TRNSIM_TEST_DIR} + "/analysis/data");
    if (importer_.Import(file) == nullptr) throw std::runtime_error{"no schema " + file};
  }

  /// Numbers of 64 bits are texts in the JSON of protobuf. Throws when `bytes` is not such a message, or has fields
  /// that the schema does not know.
  Json decode(const std::string& type, const std::string& bytes) {
    const auto* descriptor = importer_.pool()->FindMessageTypeByName(type);
    if (descriptor == nullptr) throw std::runtime_error{"no message " + type};
    const std::unique_ptr<google::protobuf::Message> message{factory_.GetPrototype(descriptor)->New()};
    if (!message->ParseFromString(bytes)) throw std::runtime_error{"no message of " + type};
    std::string unknown, text;
    message->GetReflection()->GetUnknownFields(*message).SerializeToString(&unknown);
    if (!unknown.empty()) throw std::runtime_error{"fields outside of the schema"};
    google::protobuf::util::JsonPrintOptions options;
    options.preserve_proto_field_names = true;
    if (!google::protobuf::util::MessageToJsonString(*message, &text, options).ok())
      throw std::runtime_error{"no JSON"};
    return Json::parse(text);
  }

 private:
  void AddError(const std::string& file, int line, int, const std::string& message) override {
    throw std::runtime_error{file + ":" + std::to_string(line) + ": " + message};
  }
  google::protobuf::compiler::DiskSourceTree tree_;
  google::protobuf::compiler::Importer importer_{&tree_, this};
  google::protobuf::DynamicMessageFactory factory_;
};

/// The items of a stream of messages, each after its length.
inline std::vector<std::string> delimited(const std::string& bytes) {
  google::protobuf::io::CodedInputStream in{reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size())};
  std::vector<std::string> items;
  for (std::uint32_t length = 0; in.ReadVarint32(&length);) {
    std::string item;
    if (!in.ReadString(&item, static_cast<int>(length))) throw std::runtime_error{"a message is cut"};
    items.push_back(std::move(item));
  }
  return items;
}

/// A number that protobuf's JSON may hold as text.
inline std::uint64_t whole(const Json& value) {
  return value.is_string() ? std::stoull(value.get<std::string>()) : value.get<std::uint64_t>();
}

}  // namespace proto_json
