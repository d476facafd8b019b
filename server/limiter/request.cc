#include "server/limiter/request.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace tollgate {
namespace {

// How many bytes the UTF-8 sequence at `text[i]` takes, or 0 if it is not
// well-formed (Unicode 15, table 3-7).
size_t SequenceLength(absl::string_view text, size_t i) {
  const auto byte = [&](size_t k) {
    return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0;
  };
  const auto continues = [&](size_t k) { return (byte(k) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (lead == 0xED && byte(1) > 0x9F) return 0;  // surrogates
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (lead == 0xF0 && byte(1) < 0x90) return 0;  // overlong
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

// OK if `text` has between `min` and `max` bytes of UTF-8. The field's name is
// made only for the error.
template <typename Field>
absl::Status CheckText(absl::string_view text, size_t min, size_t max,
                       const Field& field) {
  if (text.size() < min) {
    return absl::InvalidArgumentError(
        absl::StrCat(field(), ": empty, want ", min, " to ", max, " bytes"));
  }
  if (text.size() > max) {
    return absl::InvalidArgumentError(absl::StrCat(
        field(), ": got ", text.size(), " bytes, want at most ", max));
  }
  if (!IsValidUtf8(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat(field(), ": not valid UTF-8"));
  }
  return absl::OkStatus();
}

absl::Status CheckEntry(const Entry& entry, size_t d, size_t e) {
  const auto path = [&] {
    return absl::StrCat("descriptors[", d, "].entries[", e, "]");
  };
  absl::Status status =
      CheckText(entry.key, 1, kMaxKeyBytes, [&] { return path() + ".key"; });
  if (!status.ok()) return status;
  return CheckText(entry.value, 0, kMaxValueBytes,
                   [&] { return path() + ".value"; });
}

absl::Status CheckCount(size_t got, size_t max, const std::string& field) {
  if (got >= 1 && got <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got ", got, ", want 1 to ", max));
}

absl::Status CheckAtMost(uint64_t got, const std::string& field) {
  if (got <= kMaxCost) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got ", got, ", want at most ", kMaxCost));
}

absl::Status CheckTerms(const DescriptorTerms& terms, size_t d) {
  const std::string path = absl::StrCat("descriptors[", d, "].");
  if (terms.hits.has_value()) {
    absl::Status status = CheckAtMost(*terms.hits, path + "hits_addend");
    if (!status.ok()) return status;
  }
  if (!terms.limit.has_value()) return absl::OkStatus();
  if (!PeriodOf(terms.limit->unit).has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, "limit.unit: got ", static_cast<int32_t>(terms.limit->unit),
        ", want 1 to 7: second, minute, hour, day, month, year, "
        "week"));
  }
  return CheckAtMost(terms.limit->requests_per_unit,
                     path + "limit.requests_per_unit");
}

}  // namespace

bool IsValidUtf8(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = SequenceLength(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

absl::Status ValidateRequest(const Request& request) {
  absl::Status status = CheckText(request.domain, 1, kMaxDomainBytes,
                                  [] { return std::string("domain"); });
  if (!status.ok()) return status;
  if (request.descriptors.empty() ||
      request.descriptors.size() > kMaxDescriptors) {
    return CheckCount(request.descriptors.size(), kMaxDescriptors,
                      "descriptors");
  }
  for (size_t d = 0; d < request.descriptors.size(); ++d) {
    const Descriptor& descriptor = request.descriptors[d];
    if (descriptor.empty() || descriptor.size() > kMaxEntries) {
      return CheckCount(descriptor.size(), kMaxEntries,
                        absl::StrCat("descriptors[", d, "].entries"));
    }
    for (size_t e = 0; e < descriptor.size(); ++e) {
      status = CheckEntry(descriptor[e], d, e);
      if (!status.ok()) return status;
    }
  }
  if (!request.terms.empty() &&
      request.terms.size() != request.descriptors.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("terms: got ", request.terms.size(), ", want 0 or ",
                     request.descriptors.size()));
  }
  for (size_t d = 0; d < request.terms.size(); ++d) {
    status = CheckTerms(request.terms[d], d);
    if (!status.ok()) return status;
  }
  return CheckAtMost(request.cost, "cost");
}

}  // namespace tollgate
