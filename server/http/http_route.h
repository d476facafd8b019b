#ifndef TOLLGATE_SERVER_HTTP_HTTP_ROUTE_H_
#define TOLLGATE_SERVER_HTTP_HTTP_ROUTE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"
#include "server/headers/rate_limit_headers.h"

namespace tollgate {

inline constexpr char kPlainText[] = "text/plain; charset=utf-8";

// What a route may read of a request. Views, valid until it is answered.
struct HttpRequest {
  absl::string_view query;  // as it was sent, without its '?'
  absl::string_view body;
};

struct HttpAnswer {
  int code = 200;
  std::string content_type = kPlainText;
  std::string body;
  std::vector<HeaderField> headers;  // besides those of every answer
};

using HttpDone = absl::AnyInvocable<void(HttpAnswer)>;

// One path and what answers it.
struct HttpRoute {
  std::string path;   // such as "/check"
  std::string about;  // a line for people who look around; empty: not told
  // Whether any method will do and may bring a body; else GET and HEAD alone,
  // whose bodies are not looked at.
  bool any_method = false;
  // Called on the server's threads, also at the same time. Calls `done` once,
  // maybe later and on another thread; the server waits for that before it
  // goes.
  std::function<void(const HttpRequest& request, HttpDone done)> answer;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_HTTP_HTTP_ROUTE_H_
