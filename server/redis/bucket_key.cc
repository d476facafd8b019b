#include "server/redis/bucket_key.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/digest.h"
#include "server/limiter/key_text.h"

namespace tollgate::redis {
namespace {

constexpr absl::string_view kPrefix = "tollgate:{";

bool IsPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7F &&
         absl::string_view("%|{}=#").find(c) == absl::string_view::npos;
}

void AppendEscaped(absl::string_view text, std::string& out) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (IsPlain(c)) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
}

}  // namespace

std::string BucketKey(const PlannedBucket& bucket, const Request& request) {
  std::string values;
  VisitKey(bucket.rule->rule, bucket.limit,
           request.descriptors[bucket.descriptor],
           [&](absl::string_view name, absl::string_view value) {
             values.push_back('|');
             if (!name.empty()) {
               AppendEscaped(name, values);
               values.push_back('=');
             }
             AppendEscaped(value, values);
           });
  std::string key(kPrefix);
  AppendEscaped(bucket.rule->id->domain->name, key);
  key.push_back('|');
  AppendEscaped(bucket.rule->id->name, key);
  if (values.size() <= kMaxValueBytes) {
    absl::StrAppend(&key, values);
  } else {
    absl::StrAppend(&key, "|#", Digest(values));
  }
  absl::StrAppend(&key, "}:", bucket.algorithm->name());
  // A penalty is of the whole rule.
  const bool is_limit = bucket.algorithm == bucket.rule->rule.algorithm;
  if (is_limit && bucket.slot > 0) absl::StrAppend(&key, ":", bucket.slot);
  return key;
}

bool IsBucketKey(absl::string_view key, absl::string_view algorithm) {
  const size_t end = key.rfind('}');
  return key.size() <= kMaxKeyBytes && absl::StartsWith(key, kPrefix) &&
         end != absl::string_view::npos &&
         absl::StartsWith(key.substr(end), absl::StrCat("}:", algorithm)) &&
         std::none_of(key.begin(), key.end(), [](char c) {
           return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F;
         });
}

}  // namespace tollgate::redis
