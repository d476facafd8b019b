#include "server/status/status_routes.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/http/http_server.h"
#include "tests/support/tcp_client.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kScript[] = "</script><img src=x onerror=alert(1)>";

struct Site {
  std::unique_ptr<HttpServer> server;

  Site() {
    HttpServerOptions options;
    options.listen = "127.0.0.1:0";
    options.metrics = [] { return std::string(); };
    options.readiness = [] { return Readiness(); };
    options.routes = MakeStatusRoutes([] {
      ServiceStatus status;
      status.version = "1.2.3";
      status.keys = {{.domain = "shop", .rule = "per-user", .key = kScript}};
      return status;
    });
    auto made = MakeHttpServer(std::move(options));
    EXPECT_TRUE(made.ok()) << made.status();
    server = *std::move(made);
  }
  [[nodiscard]] std::string Ask(const std::string& method,
                                const std::string& path) const {
    return AskHttp(server->port(), method, path);
  }
};

constexpr const char* kPaths[] = {"/",           "/status.css", "/status.js",
                                  "/history.js", "/notices.js", "/text.js",
                                  "/status.json"};

TEST(StatusRoutes, ForbidWhatIsNotOurs) {
  const Site site;
  for (const char* path : kPaths) {
    EXPECT_THAT(
        site.Ask("GET", path),
        AllOf(StartsWith("HTTP/1.1 200 "),
              HasSubstr("\r\nContent-Security-Policy: default-src 'none'; "
                        "script-src 'self'; style-src 'self'; connect-src "
                        "'self'; img-src 'self' data:; base-uri 'none'; "
                        "form-action 'none'; frame-ancestors 'none'\r\n"),
              HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"),
              HasSubstr("\r\nCross-Origin-Resource-Policy: same-origin\r\n"),
              HasSubstr("\r\nReferrer-Policy: no-referrer\r\n"),
              HasSubstr("\r\nCache-Control: no-store\r\n")))
        << path;
  }
}

TEST(StatusRoutes, HaveTheTypesThatABrowserWants) {
  const Site site;
  EXPECT_THAT(site.Ask("GET", "/"),
              AllOf(HasSubstr("Content-Type: text/html; charset=utf-8\r\n"),
                    HasSubstr("<!DOCTYPE html>"), EndsWith("</html>\n")));
  EXPECT_THAT(site.Ask("GET", "/status.css"),
              HasSubstr("Content-Type: text/css; charset=utf-8\r\n"));
  for (const char* path :
       {"/status.js", "/history.js", "/notices.js", "/text.js"}) {
    EXPECT_THAT(site.Ask("GET", path),
                HasSubstr("Content-Type: text/javascript; charset=utf-8\r\n"))
        << path;
  }
  EXPECT_THAT(site.Ask("GET", "/status.json"),
              AllOf(HasSubstr("Content-Type: application/json\r\n"),
                    HasSubstr("\"version\":\"1.2.3\"")));
}

// The policy would not let it run; it would be missing.
TEST(StatusRoutes, HaveAPageWithoutScriptsOrStylesInIt) {
  const std::string page = Site().Ask("GET", "/");
  EXPECT_THAT(page,
              AllOf(Not(HasSubstr("style=")), Not(HasSubstr("<style")),
                    Not(ContainsRegex(" on[a-z]+=")), Not(HasSubstr("http://")),
                    Not(HasSubstr("https://"))));
  EXPECT_THAT(page, HasSubstr("<script type=\"module\" src=\"/status.js\">"
                              "</script>"));
}

TEST(StatusRoutes, PutNothingIntoThePageButText) {
  const Site site;
  for (const char* path :
       {"/status.js", "/history.js", "/notices.js", "/text.js"}) {
    EXPECT_THAT(site.Ask("GET", path),
                AllOf(Not(HasSubstr("innerHTML")), Not(HasSubstr("outerHTML")),
                      Not(HasSubstr("insertAdjacent")),
                      Not(HasSubstr("document.write")), Not(HasSubstr("eval")),
                      Not(HasSubstr("new Function"))))
        << path;
  }
}

// The page itself is the same for all, whoever was refused.
TEST(StatusRoutes, TellKeysInTheJsonAlone) {
  const Site site;
  for (const char* path : kPaths) {
    const bool told = site.Ask("GET", path).find(kScript) != std::string::npos;
    EXPECT_EQ(told, path == std::string("/status.json")) << path;
  }
}

TEST(StatusRoutes, AnswerHeadAndNoOtherMethod) {
  const Site site;
  for (const char* path : kPaths) {
    EXPECT_THAT(
        site.Ask("HEAD", path),
        AllOf(StartsWith("HTTP/1.1 200 "),
              Not(HasSubstr("Content-Length: 0\r\n")), EndsWith("\r\n\r\n")))
        << path;
    EXPECT_THAT(site.Ask("POST", path), StartsWith("HTTP/1.1 405 ")) << path;
  }
}

TEST(StatusRoutes, AreNotAllListedForPeopleWhoLookAround) {
  EXPECT_THAT(
      Site().Ask("GET", "/nope"),
      AllOf(StartsWith("HTTP/1.1 404 "),
            HasSubstr("  /             how the service does, for people\n"),
            HasSubstr("  /status.json  "), Not(HasSubstr("/history.js"))));
}

}  // namespace
}  // namespace tollgate
