#include "server/http/http_server.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tcp_client.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Site {
  std::atomic<bool> ready{true};
  std::unique_ptr<HttpServer> server;

  explicit Site(HttpServerOptions options = {}) {
    options.listen = "127.0.0.1:0";
    options.metrics = [] { return std::string("a_total 1\n"); };
    options.readiness = [this] {
      return Readiness{ready, ready ? "ready: 3 rules" : "draining"};
    };
    auto made = MakeHttpServer(std::move(options));
    EXPECT_TRUE(made.ok()) << made.status();
    server = *std::move(made);
  }
  [[nodiscard]] std::string Ask(const std::string& method,
                                const std::string& path,
                                const std::string& body = "") const {
    return AskHttp(server->port(), method, path, body);
  }
};

TEST(HttpServer, ServesMetricsInThePrometheusMediaType) {
  const Site site;
  EXPECT_THAT(site.Ask("GET", "/metrics"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                    HasSubstr("Content-Type: text/plain; version=0.0.4"),
                    HasSubstr("Content-Length: 10\r\n"),
                    HasSubstr("Connection: close\r\n"),
                    EndsWith("\r\n\r\na_total 1\n")));
}

TEST(HttpServer, IsHealthyEvenWhenItIsNotReady) {
  Site site;
  site.ready = false;
  EXPECT_THAT(site.Ask("GET", "/healthz"),
              AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\nok\n")));
}

TEST(HttpServer, SaysWhetherItIsReadyAndWhy) {
  Site site;
  EXPECT_THAT(site.Ask("GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("ready: 3 rules\n")));
  site.ready = false;
  EXPECT_THAT(site.Ask("GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 503 "), EndsWith("draining\n")));
}

TEST(HttpServer, ListensOnIpv6) {
  HttpServerOptions options;
  options.listen = "[::1]:0";
  options.metrics = [] { return std::string(); };
  options.readiness = [] { return Readiness(); };
  const auto server = MakeHttpServer(std::move(options));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_GT((*server)->port(), 0);
}

TEST(HttpServer, IgnoresAQuery) {
  const Site site;
  EXPECT_THAT(site.Ask("GET", "/readyz?verbose=1"),
              StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, SaysWhatThereIsWhereThereIsNothing) {
  const Site site;
  for (const char* path :
       {"/", "/nope", "/metrics/", "/../etc/passwd", "/%2e%2e/etc/passwd"}) {
    const std::string answer = site.Ask("GET", path);
    EXPECT_THAT(answer,
                AllOf(Not(StartsWith("HTTP/1.1 200")), Not(HasSubstr("root:"))))
        << path;
  }
  EXPECT_THAT(site.Ask("GET", "/nope"),
              AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("/metrics"),
                    HasSubstr("/healthz"), HasSubstr("/readyz")));
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  const Site site;
  EXPECT_THAT(site.Ask("HEAD", "/metrics"),
              AllOf(StartsWith("HTTP/1.1 200 "),
                    HasSubstr("Content-Length: 10\r\n"), EndsWith("\r\n\r\n")));
}

TEST(HttpServer, RefusesOtherMethods) {
  const Site site;
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    EXPECT_THAT(
        site.Ask(method, "/metrics"),
        AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")))
        << method;
  }
}

TEST(HttpServer, SurvivesWhatIsNotHttp) {
  HttpServerOptions options;
  options.timeout = absl::Seconds(1);  // of those who never finish
  const Site site(std::move(options));
  (void)Exchange(site.server->port(), std::string(50'000, '\xFF') + "\r\n\r\n");
  (void)Exchange(site.server->port(), "GET\r\n\r\n");
  (void)Exchange(site.server->port(), "\r\n\r\n\r\n");
  EXPECT_THAT(site.Ask("GET", "/healthz"), StartsWith("HTTP/1.1 200 "));
}

// Says what it was asked.
HttpRoute Echo(bool any_method) {
  return {
      .path = "/echo",
      .about = "what you say",
      .any_method = any_method,
      .answer = [](const HttpRequest& request, HttpDone done) {
        done({.code = 429,
              .content_type = "application/json",
              .body = absl::StrCat("[", request.query, "][", request.body, "]"),
              .headers = {{"Retry-After", "7"}}});
      }};
}

HttpServerOptions WithEcho(bool any_method) {
  HttpServerOptions options;
  options.routes = {Echo(any_method)};
  options.max_body_bytes = 100'000;
  return options;
}

TEST(HttpServer, ServesFurtherRoutes) {
  const Site site(WithEcho(true));
  EXPECT_THAT(
      site.Ask("GET", "/echo?a=%41&b"),
      AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("Retry-After: 7\r\n"),
            HasSubstr("Content-Type: application/json\r\n"),
            EndsWith("\r\n\r\n[a=%41&b][]")));
  for (const char* method : {"POST", "PUT", "GET", "DELETE"}) {
    EXPECT_THAT(site.Ask(method, "/echo", "hello"), EndsWith("[][hello]"))
        << method;
  }
  EXPECT_THAT(site.Ask("GET", "/nope"),
              HasSubstr("  /echo     what you say\n"));
}

TEST(HttpServer, ServesARouteThatItTellsNobodyOf) {
  HttpServerOptions options = WithEcho(false);
  options.routes[0].path = "/a-rather-long-path";
  options.routes[0].about.clear();
  const Site site(std::move(options));
  EXPECT_THAT(site.Ask("GET", "/a-rather-long-path?q"), EndsWith("[q][]"));
  EXPECT_THAT(site.Ask("GET", "/nope"),
              AllOf(HasSubstr("  /metrics  metrics in"),
                    Not(HasSubstr("/a-rather-long-path"))));
}

TEST(HttpServer, RefusesOtherMethodsOfARouteThatOnlyReads) {
  const Site site(WithEcho(false));
  EXPECT_THAT(site.Ask("GET", "/echo"), StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(site.Ask("POST", "/echo", "hello"), StartsWith("HTTP/1.1 405 "));
}

TEST(HttpServer, TakesABodyUpToItsBound) {
  const Site site(WithEcho(true));
  const std::string body(100'000, 'x');
  EXPECT_THAT(site.Ask("POST", "/echo", body), EndsWith(body + "]"));
  EXPECT_THAT(site.Ask("POST", "/echo", body + "x"),
              AllOf(StartsWith("HTTP/1.1 413 "),
                    EndsWith("the body has 100001 bytes, want at most "
                             "100000\n")));
}

TEST(HttpServer, CutsOffABodyThatDoesNotSayHowLargeItIs) {
  const Site site(WithEcho(true));
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_THAT(Exchange(site.server->port(), head + "5\r\nhello\r\n0\r\n\r\n"),
              EndsWith("[][hello]"));
  const std::string chunk = "C350\r\n" + std::string(50'000, 'x') + "\r\n";
  EXPECT_THAT(Exchange(site.server->port(),
                       head + chunk + chunk + "1\r\nx\r\n0\r\n\r\n"),
              Not(HasSubstr("xxx")));
}

TEST(HttpServer, RefusesAHeadThatIsTooLarge) {
  const Site site(WithEcho(true));
  EXPECT_THAT(site.Ask("GET", "/echo?" + std::string(16'384, 'q')),
              EndsWith("qqq][]"));
  EXPECT_THAT(site.Ask("GET", "/echo?" + std::string(70'000, 'q')),
              StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(site.Ask("GET", "/healthz"), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, SendsNoHeaderThatWouldBreakTheAnswer) {
  HttpServerOptions options;
  options.routes = {
      {.path = "/a", .answer = [](const HttpRequest&, HttpDone done) {
         done({.body = "body", .headers = {{"A", "b\r\nC: d"}}});
       }}};
  const Site site(std::move(options));
  EXPECT_THAT(site.Ask("GET", "/a"),
              AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("C: d"))));
}

TEST(HttpServer, KeepsAConnectionForTheNextRequest) {
  const Site site(WithEcho(true));
  const std::string answers =
      Exchange(site.server->port(),
               "GET /echo?first HTTP/1.1\r\nHost: a\r\n\r\n"
               "GET /echo?second HTTP/1.1\r\nHost: a\r\n"
               "Connection: close\r\n\r\n");
  EXPECT_THAT(answers, AllOf(HasSubstr("[first][]"), EndsWith("[second][]")));
}

// Each says half a request and then nothing.
TEST(HttpServer, AnswersWhileManyOthersAreSilent) {
  const Site site;
  std::vector<int> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(ConnectTo(site.server->port()));
    const std::string half = i % 2 == 0 ? "" : "GET /metrics HTTP/1.1\r\nHo";
    (void)::send(silent.back(), half.data(), half.size(), MSG_NOSIGNAL);
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(site.Ask("GET", "/metrics"), StartsWith("HTTP/1.1 200 "));
  }
  for (const int fd : silent) ::close(fd);
}

TEST(HttpServer, TurnsAwayConnectionsAboveItsBound) {
  HttpServerOptions options;
  options.max_connections = 4;
  const Site site(std::move(options));
  std::vector<int> fds;
  for (int i = 0; i < 20; ++i) fds.push_back(ConnectTo(site.server->port()));
  for (const int fd : fds) ::close(fd);
  // When those are gone there is room again, after a moment.
  std::string answer;
  for (int i = 0; i < 1000 && answer.empty(); ++i) {
    answer = site.Ask("GET", "/healthz");
  }
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, AnswersManyAtOnce) {
  const Site site;
  std::atomic<int> answered{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        if (site.Ask("GET", "/metrics").rfind("HTTP/1.1 200", 0) == 0) {
          ++answered;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 80);
}

TEST(HttpServer, SaysWhereItCannotListen) {
  const Site site;
  for (const std::string& listen :
       {absl::StrCat("127.0.0.1:", site.server->port()),
        std::string("nonsense"), std::string("127.0.0.1:99999")}) {
    HttpServerOptions options;
    options.listen = listen;
    EXPECT_THAT(MakeHttpServer(options),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr(listen)));
  }
}

// Answers when the test lets it.
struct LaterRoute {
  std::promise<void> asked;
  std::promise<void> may_answer;
  std::thread thread;

  ~LaterRoute() {
    if (thread.joinable()) thread.join();
  }
  HttpRoute route() {
    return {.path = "/later",
            .answer = [this](const HttpRequest& request, HttpDone done) {
              thread = std::thread([this, query = request.query,
                                    done = std::move(done)]() mutable {
                asked.set_value();
                may_answer.get_future().wait();
                done({.body = absl::StrCat("[", query, "]")});
              });
            }};
  }
};

TEST(HttpServer, HoldsNoThreadForAnAnswerThatComesLater) {
  LaterRoute later;
  HttpServerOptions options;
  options.threads = 1;
  options.routes = {later.route()};
  const Site site(std::move(options));
  std::string answer;
  std::thread caller([&] { answer = site.Ask("GET", "/later?q"); });
  later.asked.get_future().wait();
  EXPECT_THAT(site.Ask("GET", "/healthz"), StartsWith("HTTP/1.1 200 "));
  later.may_answer.set_value();
  caller.join();
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("[q]")));
}

TEST(HttpServer, WaitsForAnAnswerThatIsToComeBeforeItGoes) {
  LaterRoute later;
  HttpServerOptions options;
  options.routes = {later.route()};
  auto site = std::make_unique<Site>(std::move(options));
  std::thread caller([port = site->server->port()] {
    AskHttp(port, "GET", "/later", "");  // answered or cut off
  });
  later.asked.get_future().wait();
  std::thread going([&] { site.reset(); });
  later.may_answer.set_value();
  going.join();
  caller.join();
}

}  // namespace
}  // namespace tollgate
