#ifndef TOLLGATE_CLIENT_HTTP_HEADERS_H_
#define TOLLGATE_CLIENT_HTTP_HEADERS_H_

#include <string>
#include <vector>

#include "client/decision.h"

namespace tollgate::client {

// Which HTTP headers tell a caller its limits.
enum class HeaderProfile {
  kLegacy,   // X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset
  kDraft10,  // RateLimit-Policy and RateLimit of the IETF draft 10
};

struct HttpHeader {
  std::string name;
  std::string value;
};

// What an HTTP service adds to its answer, allowed or 429. Times are whole
// seconds, rounded up. A refusal has Retry-After: waiting that long succeeds if
// nobody else takes; one that waiting does not help has none. Shadow rules and
// allow-lists are not told, and a decision without limits has no headers.
[[nodiscard]] std::vector<HttpHeader> HttpHeaders(const Decision& decision,
                                                  HeaderProfile profile);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_HTTP_HEADERS_H_
