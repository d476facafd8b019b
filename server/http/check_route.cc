#include "server/http/check_route.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/http/query.h"
#include "server/limiter/ask_store.h"

namespace tollgate {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

struct Question {
  std::optional<std::string> domain;
  std::optional<uint64_t> cost;
  Parameters entries;
};

absl::Status SetReserved(const std::string& name, std::string value,
                         Question& question) {
  if (!question.entries.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": comes after an entry, want it before them all"));
  }
  if (name == ".domain") {
    if (question.domain.has_value()) {
      return absl::InvalidArgumentError(".domain: given twice, want it once");
    }
    question.domain = std::move(value);
    return absl::OkStatus();
  }
  if (name == ".cost") {
    if (question.cost.has_value()) {
      return absl::InvalidArgumentError(".cost: given twice, want it once");
    }
    uint64_t cost = 0;
    if (!absl::SimpleAtoi(value, &cost)) {
      return absl::InvalidArgumentError(
          ".cost: not a whole number from 0 to 4294967295");
    }
    question.cost = cost;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "a name that begins with a dot is .domain or .cost; an entry's key that "
      "begins with a dot is written with two");
}

absl::StatusOr<Question> Read(absl::string_view query) {
  absl::StatusOr<Parameters> parameters = ParseQuery(query);
  if (!parameters.ok()) return parameters.status();
  Question question;
  for (auto& [name, value] : *parameters) {
    if (name.empty() || name[0] != '.') {
      question.entries.emplace_back(std::move(name), std::move(value));
    } else if (name.size() > 1 && name[1] == '.') {
      question.entries.emplace_back(name.substr(1), std::move(value));
    } else {
      absl::Status status = SetReserved(name, std::move(value), question);
      if (!status.ok()) return status;
    }
  }
  if (!question.domain.has_value()) {
    return absl::InvalidArgumentError(
        ".domain: missing, want such as /check?.domain=shop&user=ana");
  }
  return question;
}

// A request that is being decided, with the text that it views.
struct Asked {
  Question question;
  std::vector<Entry> entries;
  Descriptor descriptor;
  Request request;

  explicit Asked(Question asked) : question(std::move(asked)) {
    entries.reserve(question.entries.size());
    for (const auto& [key, value] : question.entries) {
      entries.push_back({key, value});
    }
    descriptor = entries;
    request = {.domain = *question.domain,
               .descriptors = {&descriptor, 1},
               .cost = question.cost.value_or(1)};
  }
};

std::string Refusal(const Decision& decision) {
  std::string text = absl::StrCat(OutcomeName(decision.outcome), ":");
  for (const RuleStatus& status : decision.statuses) {
    if (status.outcome != Outcome::kAllowed && !status.shadow) {
      absl::StrAppend(&text, " ", status.rule->name);
    }
  }
  return text + "\n";
}

HttpAnswer BadQuery(const absl::Status& status) {
  return {.code = 400,
          .body = absl::StrCat(std::string(status.message()), "\n")};
}

}  // namespace

void Check(BucketStore& store, HeaderProfile profile, absl::string_view query,
           HttpDone done) {
  absl::StatusOr<Question> question = Read(query);
  if (!question.ok()) return done(BadQuery(question.status()));
  auto asked = std::make_unique<Asked>(*std::move(question));
  const Request& request = asked->request;
  if (const absl::Status valid = ValidateRequest(request); !valid.ok()) {
    return done(BadQuery(valid));
  }
  AskToDecide(
      store, request,
      [profile, asked = std::move(asked),
       done = std::move(done)](const Decision& decision) mutable {
        done({.code = decision.allowed() ? 200 : 429,
              .body = decision.allowed() ? "allowed\n" : Refusal(decision),
              .headers = RateLimitHeaders(profile, QuotasOf(decision))});
      });
}

}  // namespace tollgate
