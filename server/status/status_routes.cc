#include "server/status/status_routes.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/status/status_json.h"

namespace tollgate {

// Made by cmake/embed.cmake, in the order of CMakeLists.txt.
extern const std::array<absl::string_view, 6> kPageBytes;

namespace {

constexpr char kJavaScript[] = "text/javascript; charset=utf-8";

struct PageFile {
  const char* path;
  const char* content_type;
};

constexpr std::array<PageFile, 6> kPageFiles = {{
    {"/", "text/html; charset=utf-8"},
    {"/status.css", "text/css; charset=utf-8"},
    {"/status.js", kJavaScript},
    {"/history.js", kJavaScript},
    {"/notices.js", kJavaScript},
    {"/text.js", kJavaScript},
}};

std::vector<HeaderField> PageHeaders() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; "
           "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
           "form-action 'none'; frame-ancestors 'none'"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Referrer-Policy", "no-referrer"}};
}

HttpAnswer Answer(const char* content_type, std::string body) {
  return {.content_type = content_type,
          .body = std::move(body),
          .headers = PageHeaders()};
}

}  // namespace

std::vector<HttpRoute> MakeStatusRoutes(std::function<ServiceStatus()> read) {
  std::vector<HttpRoute> routes;
  for (size_t i = 0; i < kPageFiles.size(); ++i) {
    routes.push_back(
        {.path = kPageFiles[i].path,
         .about = i == 0 ? "how the service does, for people" : "",
         .answer = [i](const HttpRequest&, HttpDone done) {
           done(Answer(kPageFiles[i].content_type, std::string(kPageBytes[i])));
         }});
  }
  routes.push_back(
      {.path = "/status.json",
       .about = "what that page shows",
       .answer = [read = std::move(read)](const HttpRequest&, HttpDone done) {
         done(Answer("application/json", StatusJson(read())));
       }});
  return routes;
}

}  // namespace tollgate
