#include "server/rules/yaml_json.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "server/rules/quote.h"
#include "server/rules/yaml_map.h"
#include "server/rules/yaml_scalar.h"

namespace tollgate {
namespace {

void AppendString(absl::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

class Writer {
 public:
  absl::Status Write(const YamlNode& node, int depth) {
    if (depth > kMaxJsonDepth) {
      return absl::InvalidArgumentError(
          absl::StrCat("nested over ", kMaxJsonDepth, " deep"));
    }
    absl::Status status;
    switch (node.kind) {
      case YamlNode::Kind::kMap:
        status = WriteMap(node, depth);
        break;
      case YamlNode::Kind::kList:
        status = WriteList(node, depth);
        break;
      default:
        status = WriteScalar(node);
    }
    if (status.ok() && out_.size() > kMaxJsonBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("over ", kMaxJsonBytes, " bytes of JSON"));
    }
    return status;
  }

  std::string Take() { return std::move(out_); }

 private:
  absl::Status WriteMap(const YamlNode& node, int depth) {
    out_ += '{';
    bool first = true;
    const YamlMap fields(node);
    for (const YamlMap::Field& field : fields.fields()) {
      if (!YamlMap::IsTextKey(*field.key)) {
        return absl::InvalidArgumentError(
            absl::StrCat("key is not of type string: ", Clip(field.key->text)));
      }
      if (!first) out_ += ',';
      first = false;
      AppendString(field.key->text, out_);
      out_ += ':';
      absl::Status status = Write(*field.value, depth + 1);
      if (!status.ok()) return status;
    }
    out_ += '}';
    return absl::OkStatus();
  }

  absl::Status WriteList(const YamlNode& node, int depth) {
    out_ += '[';
    for (size_t i = 0; i < node.items.size(); ++i) {
      if (i > 0) out_ += ',';
      absl::Status status = Write(*node.items[i], depth + 1);
      if (!status.ok()) return status;
    }
    out_ += ']';
    return absl::OkStatus();
  }

  absl::Status WriteScalar(const YamlNode& node) {
    const YamlScalar scalar = ResolveScalar(node);
    switch (scalar.type) {
      case YamlScalar::Type::kNull:
        out_ += "null";
        break;
      case YamlScalar::Type::kBool:
        out_ += scalar.boolean ? "true" : "false";
        break;
      case YamlScalar::Type::kInt:
        absl::StrAppend(&out_, scalar.integer);
        break;
      case YamlScalar::Type::kLargeInt:
      case YamlScalar::Type::kFloat:
        if (!std::isfinite(scalar.floating)) {
          return absl::InvalidArgumentError(
              absl::StrCat("invalid number: ", node.text));
        }
        absl::StrAppendFormat(&out_, "%.17g", scalar.floating);
        break;
      case YamlScalar::Type::kText:
        AppendString(node.text, out_);
    }
    return absl::OkStatus();
  }

  std::string out_;
};

}  // namespace

absl::StatusOr<std::string> ToJson(const YamlNode& node) {
  Writer writer;
  absl::Status status = writer.Write(node, 1);
  if (!status.ok()) return status;
  return writer.Take();
}

}  // namespace tollgate
