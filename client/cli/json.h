#ifndef TOLLGATE_CLIENT_CLI_JSON_H_
#define TOLLGATE_CLIENT_CLI_JSON_H_

#include <string>

#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace tollgate::cli {

// `text` as a JSON string, with its quotes. Bytes that are not UTF-8 become
// U+FFFD, one for each byte above 127.
std::string JsonString(absl::string_view text);

// `message` as proto3 JSON on one line, with what is zero or empty too: that
// nothing remains says a lot.
std::string MessageJson(const google::protobuf::Message& message);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_JSON_H_
