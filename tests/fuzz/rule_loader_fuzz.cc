// Rule files of any bytes, of both formats: what is wrong is said, on one line
// each, and what loads is a rule set that the limiter takes and decides by.
// What an Envoy-format file says is a native file too.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/clock.h"
#include "server/limiter/explain.h"
#include "server/limiter/limiter.h"
#include "server/limiter/rule_set.h"
#include "server/rules/convert.h"
#include "server/rules/rule_file.h"
#include "tests/fuzz/check.h"

namespace tollgate {
namespace {

constexpr int64_t kNow = 1'700'000'000'000'000'001;

void CheckErrors(const LoadedRules& loaded) {
  Check(loaded.hash.empty(), "a file with errors has no hash");
  for (const RuleFileError& error : loaded.errors) {
    const std::string text = error.ToString();
    Check(!error.message.empty(), "an error says something");
    Check(text.find('\n') == std::string::npos, "an error is one line");
    Check((error.line > 0) == (error.column > 0), "an error has a place");
  }
}

// Asks for each path as it is written, and for the file in the native language.
void CheckNodes(const LoadedRules& loaded, Limiter& limiter) {
  Check(ParseRules(ToNativeYaml(loaded.rules), "native").errors.empty(),
        "a converted file loads");
  constexpr size_t kAsked = 20;
  for (size_t i = 0; i < loaded.rules.size() && i < kAsked; ++i) {
    const Rule& rule = loaded.rules[i];
    std::vector<Entry> entries;
    for (const NodeStep& step : rule.node->path) {
      entries.push_back({step.key, step.value});
    }
    const Descriptor descriptor(entries);
    const std::array<Descriptor, 2> twice = {descriptor, descriptor};
    Request request;
    request.domain = rule.domain;
    request.descriptors = twice;
    if (!ValidateRequest(request).ok()) continue;
    Check(Explain(*limiter.rules(), request).size() >= loaded.rules.size(),
          "every rule is explained");
    limiter.Decide(request);
    const std::array<DescriptorTerms, 2> terms = {
        DescriptorTerms{2, true, {}},
        DescriptorTerms{{}, false, LimitOverride{1, LimitUnit::kDay}}};
    request.terms = terms;
    limiter.Decide(request);
  }
}

void CheckRules(const LoadedRules& loaded, absl::string_view yaml) {
  Check(loaded.hash.size() == 32, "a file without errors has a hash");
  Check(ParseRules(yaml, "again").hash == loaded.hash, "the hash is stable");
  absl::StatusOr<RuleSet> set = RuleSet::Create(loaded.rules);
  Check(set.ok(), "what loads is a rule set");
  const FakeClock clock(kNow);
  LimiterOptions options;
  options.stripes = 1;
  options.hash_key = HashKey{};
  Limiter limiter(clock, options);
  const absl::Status status = limiter.SetRules(*std::move(set));
  Check(status.ok(), "what loads can be put in force");
  const std::array<Entry, 3> entries = {
      {{"user", "ana"}, {"ip", "192.0.2.1"}, {"endpoint", "/login"}}};
  const std::array<Descriptor, 1> descriptors = {Descriptor(entries)};
  Request request;
  if (loaded.rules.empty()) return;
  request.domain = loaded.rules[0].domain;
  request.descriptors = descriptors;
  for (int i = 0; i < 3; ++i) limiter.Decide(request);
  if (loaded.rules[0].node.has_value()) CheckNodes(loaded, limiter);
}

}  // namespace
}  // namespace tollgate

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view yaml(reinterpret_cast<const char*>(data), size);
  const tollgate::LoadedRules loaded = tollgate::ParseRules(yaml, "fuzz");
  if (loaded.errors.empty()) {
    tollgate::CheckRules(loaded, yaml);
  } else {
    tollgate::CheckErrors(loaded);
  }
  return 0;
}
