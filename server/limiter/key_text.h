#ifndef TOLLGATE_SERVER_LIMITER_KEY_TEXT_H_
#define TOLLGATE_SERVER_LIMITER_KEY_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "server/limiter/limit.h"
#include "server/limiter/request.h"
#include "server/limiter/rule.h"

namespace tollgate {

// The value of the first entry of that key; null if the descriptor has none.
[[nodiscard]] const absl::string_view* FindEntry(Descriptor descriptor,
                                                 absl::string_view key);

// Which bucket a part of a rule's key selects, for people: `user=ana`,
// `ip=192.0.2.0/24`. Empty if the descriptor has none of its entries.
[[nodiscard]] std::string KeyText(const KeyPart& part, Descriptor descriptor);

// The same for the whole key: `user=ana, ip=192.0.2.1`; empty where the rule
// has one bucket for all. Of a rule from an Envoy-format file, and of a limit
// that the request brought along, all entries. Text above `max_bytes` is cut
// between two characters, and ends with "…" then. The rule must apply to the
// descriptor, whose text is taken as it is: show it to no terminal before
// escaping it.
[[nodiscard]] std::string KeyText(const Rule& rule, Descriptor descriptor,
                                  size_t max_bytes);

// Calls `each` with the name and the value of each part that tells buckets of
// `rule` apart, in an order of the rule's own: equal calls, equal buckets. The
// name is empty where it is always the same. A limit that the request brought
// along is a part of its own. The rule must apply to the descriptor; the texts
// are valid during the call.
void VisitKey(
    const Rule& rule, const Limit& limit, Descriptor descriptor,
    absl::FunctionRef<void(absl::string_view name, absl::string_view value)>
        each);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_KEY_TEXT_H_
