#include "client/cli/entries.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tollgate::cli {

absl::StatusOr<client::Descriptor> ParseEntries(
    const std::vector<std::string>& words) {
  client::Descriptor descriptor;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("entry: got \"", word, "\", want KEY=VALUE"));
    }
    descriptor.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return descriptor;
}

absl::StatusOr<client::Descriptor> ParseDescriptor(absl::string_view text) {
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
  if (words.empty()) {
    return absl::InvalidArgumentError(
        "descriptor: got none, want \"KEY=VALUE ...\"");
  }
  return ParseEntries(words);
}

absl::StatusOr<client::Request> ToRequest(const RequestOptions& options) {
  client::Request request;
  request.domain = options.domain;
  request.cost = options.cost;
  if (!options.entries.empty()) {
    absl::StatusOr<client::Descriptor> first = ParseEntries(options.entries);
    if (!first.ok()) return first.status();
    request.descriptors.push_back(*std::move(first));
  }
  for (const std::string& text : options.descriptors) {
    absl::StatusOr<client::Descriptor> more = ParseDescriptor(text);
    if (!more.ok()) return more.status();
    request.descriptors.push_back(*std::move(more));
  }
  if (request.descriptors.empty()) {
    return absl::InvalidArgumentError(
        "got no entry, want KEY=VALUE... or --descriptor");
  }
  return request;
}

absl::StatusOr<absl::Duration> ParseTime(absl::string_view option,
                                         const std::string& text) {
  absl::Duration duration;
  if (absl::ParseDuration(text, &duration)) return duration;
  return absl::InvalidArgumentError(absl::StrCat(
      option, ": got \"", text, "\", want a duration such as 20ms or 1.5s"));
}

}  // namespace tollgate::cli
