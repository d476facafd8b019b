#include "client/cli/json.h"

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/limiter/request.h"

namespace tollgate::cli {

std::string JsonString(absl::string_view text) {
  const bool utf8 = IsValidUtf8(text);
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      absl::StrAppend(&json, "\\", absl::string_view(&c, 1));
    } else if (byte < 0x20) {
      absl::StrAppendFormat(&json, "\\u%04x", byte);
    } else if (byte >= 0x80 && !utf8) {
      json.append("\\ufffd");
    } else {
      json.push_back(c);
    }
  }
  json.push_back('"');
  return json;
}

std::string MessageJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions print;
  print.always_print_primitive_fields = true;
  std::string json;
  // Fails for no message without an Any.
  (void)google::protobuf::util::MessageToJsonString(message, &json, print);
  return json;
}

}  // namespace tollgate::cli
