#include "server/limiter/key_text.h"

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/address.h"
#include "server/limiter/node_rule.h"

namespace tollgate {
namespace {

// Appends `part`. If the text is longer than `max_bytes` then, cuts it, marks
// the cut and returns false.
bool Append(absl::string_view part, size_t max_bytes, std::string& text) {
  absl::StrAppend(&text, text.empty() ? "" : ", ", part);
  if (text.size() <= max_bytes) return true;
  size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;  // into a character
  }
  text.resize(end);
  text.append("…");
  return false;
}

// Of a node, whose key is the whole descriptor; where all values of a wildcard
// share a bucket, the wildcard. The same without steps.
std::string WholeText(absl::Span<const NodeStep> steps, Descriptor descriptor,
                      size_t max_bytes) {
  std::string text;
  for (size_t i = 0; i < descriptor.size(); ++i) {
    const bool shared = i < steps.size() && steps[i].share;
    const std::string part = absl::StrCat(
        descriptor[i].key, "=",
        shared ? absl::string_view(steps[i].value) : descriptor[i].value);
    if (!Append(part, max_bytes, text)) break;
  }
  return text;
}

}  // namespace

const absl::string_view* FindEntry(Descriptor descriptor,
                                   absl::string_view key) {
  for (const Entry& entry : descriptor) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string KeyText(const KeyPart& part, Descriptor descriptor) {
  for (const KeySource& source : part.alternatives) {
    const absl::string_view* value = FindEntry(descriptor, source.entry);
    if (value == nullptr) continue;
    if (!source.prefix.has_value()) {
      return absl::StrCat(source.entry, "=", *value);
    }
    Network network;
    if (ParseNetwork(*value, source.prefix->v4, source.prefix->v6, network)) {
      return absl::StrCat(source.entry, "=", network.ToString());
    }
  }
  return "";
}

std::string KeyText(const Rule& rule, Descriptor descriptor, size_t max_bytes) {
  if (rule.node.has_value()) {
    return WholeText(rule.node->path, descriptor, max_bytes);
  }
  if (rule.name == kOverrideRule) return WholeText({}, descriptor, max_bytes);
  std::string text;
  for (const KeyPart& part : rule.key) {
    if (!Append(KeyText(part, descriptor), max_bytes, text)) break;
  }
  return text;
}

void VisitKey(
    const Rule& rule, const Limit& limit, Descriptor descriptor,
    absl::FunctionRef<void(absl::string_view, absl::string_view)> each) {
  const bool is_override = rule.name == kOverrideRule && rule.key.empty();
  if (rule.node.has_value() || is_override) {
    if (is_override) each("", limit.ToString());
    for (size_t i = 0; i < descriptor.size(); ++i) {
      const bool shared = !is_override && rule.node->path[i].share;
      each(shared ? absl::string_view(rule.node->path[i].key)
                  : descriptor[i].key,
           shared ? absl::string_view(rule.node->path[i].value)
                  : descriptor[i].value);
    }
    return;
  }
  for (const KeyPart& part : rule.key) {
    const bool has_one = part.alternatives.size() == 1;
    for (const KeySource& source : part.alternatives) {
      const absl::string_view* value = FindEntry(descriptor, source.entry);
      if (value == nullptr) continue;
      const absl::string_view name =
          has_one ? absl::string_view() : absl::string_view(source.entry);
      Network network;
      if (!source.prefix.has_value()) {
        each(name, *value);
      } else if (ParseNetwork(*value, source.prefix->v4, source.prefix->v6,
                              network)) {
        each(name, network.ToString());
      } else {
        continue;
      }
      break;
    }
  }
}

}  // namespace tollgate
