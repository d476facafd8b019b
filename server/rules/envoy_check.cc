#include "server/rules/envoy_check.h"

#include <array>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/rules/quote.h"
#include "server/rules/yaml_map.h"
#include "server/rules/yaml_scalar.h"

namespace tollgate {
namespace {

constexpr std::array<absl::string_view, 16> kKnownKeys = {"domain",
                                                          "descriptors",
                                                          "key",
                                                          "value",
                                                          "rate_limit",
                                                          "unit",
                                                          "unit_multiplier",
                                                          "metadata",
                                                          "requests_per_unit",
                                                          "unlimited",
                                                          "shadow_mode",
                                                          "quota_mode",
                                                          "name",
                                                          "replaces",
                                                          "detailed_metric",
                                                          "value_to_metric"};
constexpr absl::string_view kShareThreshold = "share_threshold";

class Checker {
 public:
  explicit Checker(ErrorList& errors) : errors_(errors) {}

  void CheckMap(const YamlNode& map, int depth) {
    if (depth > kMaxEnvoyDepth) {
      return Fail(map, absl::StrCat("error checking config: nested over ",
                                    kMaxEnvoyDepth, " deep"));
    }
    const YamlMap fields(map);
    for (const YamlMap::Field& field : fields.fields()) {
      if (CheckKey(*field.key) && field.key->text != "metadata") {
        CheckValue(*field.value, depth);
      }
    }
  }

 private:
  void Fail(const YamlNode& node, std::string message) {
    errors_.Add(node.at, "", std::move(message));
  }

  bool CheckKey(const YamlNode& key) {
    if (!YamlMap::IsTextKey(key)) {
      Fail(key, absl::StrCat("config error, key is not of type string: ",
                             Clip(key.text)));
      return false;
    }
    if (!absl::c_linear_search(kKnownKeys, key.text) &&
        key.text != kShareThreshold) {
      Fail(key, absl::StrCat("config error, unknown key '", Clip(key.text), "'",
                             DidYouMean(key.text, kKnownKeys)));
      return false;
    }
    return true;
  }

  void CheckValue(const YamlNode& value, int depth) {
    if (value.kind == YamlNode::Kind::kMap) return CheckMap(value, depth + 1);
    if (value.kind != YamlNode::Kind::kList) {
      const YamlScalar::Type type = ResolveScalar(value).type;
      if (type == YamlScalar::Type::kFloat ||
          type == YamlScalar::Type::kLargeInt) {
        Fail(value, absl::StrCat("error checking config: got the number ",
                                 Clip(value.text),
                                 ", want a whole one or quotes around it"));
      }
      return;
    }
    for (const YamlNode* item : value.items) {
      if (item->kind == YamlNode::Kind::kMap) {
        CheckMap(*item, depth + 1);
      } else {
        Fail(*item, absl::StrCat("config error, yaml file contains list of "
                                 "type other than map: ",
                                 Clip(item->text)));
      }
    }
  }

  ErrorList& errors_;
};

}  // namespace

bool CheckEnvoyYaml(const YamlNode& root, ErrorList& errors) {
  const size_t before = errors.count();
  Checker(errors).CheckMap(root, 1);
  return errors.count() == before;
}

}  // namespace tollgate
