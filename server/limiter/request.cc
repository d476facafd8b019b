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
  if (request.cost > kMaxCost) {
    return absl::InvalidArgumentError(
        absl::StrCat("cost: got ", request.cost, ", want at most ", kMaxCost));
  }
  return absl::OkStatus();
}

}  // namespace tollgate
