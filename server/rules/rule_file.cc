#include "server/rules/rule_file.h"

#include <deque>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/limiter/fixed_window.h"
#include "server/rules/envoy_file.h"
#include "server/rules/field_value.h"
#include "server/rules/quote.h"
#include "server/rules/rule_fields.h"
#include "server/rules/rule_hash.h"
#include "server/rules/rule_source.h"
#include "server/rules/yaml_tree.h"

namespace tollgate {
namespace {

// Collects the rules of one file after the other. Thread-compatible.
class Loader {
 public:
  explicit Loader(const LoadOptions& options) : envoy_(options) {}

  void AddText(absl::string_view yaml, absl::string_view file) {
    if (!Read(yaml, files_.emplace_back(file))) all_read_ = false;
  }

  void AddFile(const std::string& path) {
    const absl::StatusOr<std::string> text = ReadFileText(path);
    if (text.ok()) return AddText(*text, path);
    AddError(path, text.status());
  }

  void AddError(absl::string_view file, const absl::Status& status) {
    files_.emplace_back(file).Add({}, "", std::string(status.message()));
    all_read_ = false;
  }

  LoadedRules Finish() {
    if (all_read_) CheckSkips();
    CheckFormats();
    for (ErrorList& errors : files_) {
      std::vector<RuleFileError> found = errors.Take();
      std::move(found.begin(), found.end(), std::back_inserter(loaded_.errors));
    }
    if (loaded_.errors.empty()) loaded_.hash = HashRules(loaded_.rules);
    return std::move(loaded_);
  }

 private:
  // The name of a rule in `skips`, which may be in a file yet to come.
  struct Skip {
    std::string domain;
    NamePlace place;
    ErrorList* errors;
  };

  // Where native rules have a domain.
  struct NativeDomain {
    ErrorList* errors;
    TextPosition at;
  };

  // Whether it was YAML with something in it.
  bool Read(absl::string_view yaml, ErrorList& errors) {
    if (yaml.size() > kMaxRuleFileBytes) {
      errors.Add({}, "", std::string(TooManyBytes().message()));
      return false;
    }
    const YamlTree tree = ParseYaml(yaml);
    if (tree.error.has_value()) {
      errors.Add(
          tree.error->at, "",
          LooksLikeEnvoyFormat(yaml)
              ? absl::StrCat("error loading config file: yaml: line ",
                             tree.error->at.line, ": ", tree.error->message)
              : tree.error->message);
      return false;
    }
    if (tree.root != nullptr && IsEnvoyFormat(*tree.root)) {
      // Of several documents that product reads the first alone.
      envoy_.Add(*tree.root, kMaxRulesLoaded - loaded_.rules.size(), errors,
                 loaded_.rules);
      return true;
    }
    if (tree.rest.has_value()) {
      errors.Add(tree.rest->at, "", tree.rest->message);
      return false;
    }
    if (tree.root == nullptr || tree.root->kind == YamlNode::Kind::kNull) {
      errors.Add({}, "",
                 "got an empty file, want domain and rules: config file cannot "
                 "have empty domain");
      return false;
    }
    RuleFileFields fields;
    fields.max_rules = kMaxRulesLoaded - loaded_.rules.size();
    ReadRuleFile(FieldValue(*tree.root, "", errors), fields);
    for (ReadRule& read : fields.rules) Add(std::move(read), errors);
    return true;
  }

  void Add(ReadRule read, ErrorList& errors) {
    const std::string& domain = read.rule.domain;
    const std::string& name = read.rule.name;
    if (!domain.empty()) {
      native_.try_emplace(domain, NativeDomain{&errors, read.name.at});
    }
    if (!domain.empty() && !name.empty()) {
      std::string place = absl::StrCat(errors.file(), ":", read.name.at.line,
                                       ":", read.name.at.column);
      const auto [first, is_new] = first_use_.try_emplace(
          std::make_pair(domain, name), std::move(place));
      if (!is_new) {
        errors.Add(read.name.at, read.name.path,
                   absl::StrCat("got ", Quote(name), ", a name taken at ",
                                first->second, ", want one not yet used in ",
                                "domain ", Quote(domain)));
      }
    }
    if (!domain.empty()) {
      for (NamePlace& skip : read.skips) {
        skips_.push_back({domain, std::move(skip), &errors});
      }
    }
    loaded_.rules.push_back(std::move(read.rule));
  }

  void CheckSkips() {
    for (const Skip& skip : skips_) {
      const NamePlace& place = skip.place;
      if (first_use_.contains(std::make_pair(skip.domain, place.name))) {
        continue;
      }
      skip.errors->Add(place.at, place.path,
                       absl::StrCat("got ", Quote(place.name),
                                    ", want the name of a rule in domain ",
                                    Quote(skip.domain)));
    }
  }

  // A domain is of one format.
  void CheckFormats() {
    for (const auto& [domain, native] : native_) {
      const std::string* file = envoy_.FileOf(domain);
      if (file == nullptr) continue;
      native.errors->Add(
          native.at, "domain",
          absl::StrCat("got ", Quote(domain), ", a domain that ", *file,
                       " has in the Envoy format, want one format in a "
                       "domain"));
    }
  }

  LoadedRules loaded_;
  EnvoyLoader envoy_;
  std::deque<ErrorList> files_;
  bool all_read_ = true;  // else what is missing may be in what was not read
  std::vector<Skip> skips_;
  absl::flat_hash_map<std::string, NativeDomain> native_;
  // Where each (domain, name) was given first.
  absl::flat_hash_map<std::pair<std::string, std::string>, std::string>
      first_use_;
};

}  // namespace

std::string RuleFileError::ToString() const {
  std::string text = file;
  if (line > 0) absl::StrAppend(&text, ":", line, ":", column);
  absl::StrAppend(&text, ": ");
  if (!field.empty()) absl::StrAppend(&text, field, ": ");
  return absl::StrCat(text, message);
}

LoadedRules ParseRules(absl::string_view yaml, absl::string_view file_name,
                       const LoadOptions& options) {
  Loader loader(options);
  loader.AddText(yaml, file_name);
  return loader.Finish();
}

LoadedRules LoadRules(const std::string& path, const LoadOptions& options) {
  Loader loader(options);
  const absl::StatusOr<std::vector<std::string>> files = ListRuleFiles(path);
  if (!files.ok()) {
    loader.AddError(path, files.status());
    return loader.Finish();
  }
  for (const std::string& file : *files) loader.AddFile(file);
  return loader.Finish();
}

const Algorithm* FindEnvoyAlgorithm(absl::string_view name) {
  for (const Algorithm* algorithm : {&TokenBucket(), &FixedWindow()}) {
    if (algorithm->name() == name) return algorithm;
  }
  return nullptr;
}

absl::Status ToStatus(absl::Span<const RuleFileError> errors) {
  if (errors.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(
      errors, "\n", [](std::string* out, const RuleFileError& error) {
        absl::StrAppend(out, error.ToString());
      }));
}

}  // namespace tollgate
