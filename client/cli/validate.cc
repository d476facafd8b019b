#include "client/cli/validate.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/cli.h"
#include "client/cli/json.h"
#include "server/limiter/rule_set.h"
#include "server/rules/rule_file.h"

namespace tollgate::cli {
namespace {

struct Result {
  std::string path;
  bool found = true;
  std::set<std::string> domains;
  size_t rules = 0;
  std::string hash;
  std::vector<RuleFileError> errors;
};

Result Load(const std::string& path, const LoadOptions& options) {
  Result result;
  result.path = path;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    result.found = false;
    return result;
  }
  LoadedRules loaded = LoadRules(path, options);
  result.errors = std::move(loaded.errors);
  result.hash = std::move(loaded.hash);
  result.rules = loaded.rules.size();
  for (const Rule& rule : loaded.rules) result.domains.insert(rule.domain);
  if (!result.errors.empty()) return result;
  // What the server does next with rules that it has read.
  const absl::Status usable = RuleSet::Create(std::move(loaded.rules)).status();
  if (!usable.ok()) {
    RuleFileError mistake;
    mistake.file = path;
    mistake.message = std::string(usable.message());
    result.errors.push_back(std::move(mistake));
  }
  return result;
}

void Print(const Result& result, const Output& output) {
  if (!result.found) {
    output.err << "tollgate validate: " << result.path << ": no such file\n";
    return;
  }
  if (result.errors.empty()) {
    output.out << result.path << ": "
               << Tinted("OK", Tint::kGreen, output.palette) << ", "
               << Counted(result.rules, "rule") << " in "
               << Counted(result.domains.size(), "domain") << " ("
               << absl::StrJoin(result.domains, ", ") << "), hash "
               << result.hash << "\n";
    return;
  }
  for (const RuleFileError& error : result.errors) {
    output.out << error.ToString() << "\n";
  }
  output.out << result.path << ": "
             << Tinted(Counted(result.errors.size(), "mistake"), Tint::kRed,
                       output.palette)
             << "\n";
}

std::string ToJson(const RuleFileError& error) {
  return absl::StrCat("{\"file\":", JsonString(error.file),
                      ",\"line\":", error.line, ",\"column\":", error.column,
                      ",\"field\":", JsonString(error.field),
                      ",\"message\":", JsonString(error.message), "}");
}

std::string ToJson(const Result& result) {
  std::vector<std::string> domains;
  for (const std::string& domain : result.domains) {
    domains.push_back(JsonString(domain));
  }
  std::vector<std::string> errors;
  for (const RuleFileError& error : result.errors) {
    errors.push_back(ToJson(error));
  }
  if (!result.found) {
    errors.push_back(ToJson({result.path, 0, 0, "", "no such file"}));
  }
  return absl::StrCat("{\"path\":", JsonString(result.path),
                      ",\"ok\":", errors.empty() ? "true" : "false",
                      ",\"domains\":[", absl::StrJoin(domains, ","),
                      "],\"rules\":", result.rules,
                      ",\"hash\":", JsonString(result.hash), ",\"errors\":[",
                      absl::StrJoin(errors, ","), "]}");
}

}  // namespace

int RunValidate(const ValidateOptions& options, const Output& output) {
  int exit_status = kExitOk;
  std::vector<std::string> json;
  for (const std::string& path : options.paths) {
    const Result result = Load(path, options.load);
    if (options.json) {
      json.push_back(ToJson(result));
    } else {
      Print(result, output);
    }
    if (!result.found) {
      exit_status = kExitError;
    } else if (!result.errors.empty()) {
      exit_status = std::max(exit_status, kExitNo);
    }
  }
  if (options.json) {
    output.out << "{\"ok\":" << (exit_status == kExitOk ? "true" : "false")
               << ",\"paths\":[" << absl::StrJoin(json, ",") << "]}\n";
  }
  return exit_status;
}

}  // namespace tollgate::cli
