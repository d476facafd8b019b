// What a server may send, whatever it is: every byte of it is read without a
// crash, the same however it is cut, and what comes of it is within bounds.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/redis/cluster_replies.h"
#include "server/redis/greeting.h"
#include "server/redis/key_slot.h"
#include "server/redis/redis_options.h"
#include "server/redis/reply_reader.h"
#include "server/redis/run_error.h"
#include "tests/fuzz/check.h"

namespace tollgate::redis {
namespace {

struct Session {
  std::vector<Answer> answers;
  bool is_broken = false;
};

// `bytes` as a connection reads them, `cut` at a time.
Session Read(absl::string_view bytes, size_t cut) {
  Session session;
  ReplyReader reader;
  while (!bytes.empty() && !session.is_broken) {
    Check(reader.Feed(bytes.substr(0, cut)).ok(), "there is memory");
    bytes.remove_prefix(std::min(cut, bytes.size()));
    while (true) {
      auto answer = reader.Next();
      session.is_broken = !answer.ok();
      if (!answer.ok() || !answer->has_value()) break;
      session.answers.push_back(**std::move(answer));
    }
  }
  return session;
}

void CheckEqual(const Reply& a, const Reply& b) {
  Check(a.kind == b.kind && a.integer == b.integer && a.text == b.text &&
            a.elements.size() == b.elements.size(),
        "a reply is the same however it is cut");
  for (size_t i = 0; i < a.elements.size(); ++i) {
    CheckEqual(a.elements[i], b.elements[i]);
  }
}

void CheckMeaning(const Answer& answer) {
  if (answer.is_error) {
    Check(answer.reply.elements.empty(), "an error is text alone");
  }
  const auto redirect = ParseRedirect(answer.reply.text, "host");
  if (redirect.has_value()) {
    Check(redirect->slot >= 0 && redirect->slot < kSlots &&
              !redirect->to.host.empty() && redirect->to.port > 0,
          "a redirect leads somewhere");
  }
  const auto ranges = ParseSlots(answer.reply, "host");
  if (ranges.ok()) {
    for (const SlotRange& range : *ranges) {
      Check(range.first >= 0 && range.first <= range.last &&
                range.last < kSlots && !range.primary.host.empty() &&
                range.primary.port > 0 && range.primary.port < 65536,
            "a range is of slots");
    }
  }
  Check(!NameOf(ErrorOf(answer.reply.text)).empty(), "an error has a name");
}

// A greeting takes any answers, and ends with a digest or an error.
void CheckGreeting(const std::vector<Answer>& answers) {
  const std::vector<std::string> scripts = {"return 1"};
  RedisOptions options;
  options.password = "hush";
  Greeting greeting(options, scripts);
  std::string sent;
  size_t left = greeting.AppendTo(sent);
  for (const Answer& answer : answers) {
    const absl::Status status = greeting.Take(answer);
    if (!status.ok()) {
      Check(status.message().size() < 300, "a message is short");
      return;
    }
    Check(left > 0, "it takes no more than it asked for");
    --left;
  }
  if (left == 0) {
    Check(greeting.digests().size() == 1 && greeting.digests()[0].size() == 40,
          "a digest is one");
  }
}

}  // namespace
}  // namespace tollgate::redis

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace redis = tollgate::redis;
  using tollgate::Check;
  if (size == 0) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                                size - 1);
  const redis::Session whole = redis::Read(bytes, bytes.size());
  const redis::Session pieces = redis::Read(bytes, 1 + data[0]);
  Check(whole.answers.size() == pieces.answers.size() &&
            whole.is_broken == pieces.is_broken,
        "a session is the same however it is cut");
  for (size_t i = 0; i < whole.answers.size(); ++i) {
    redis::CheckEqual(whole.answers[i].reply, pieces.answers[i].reply);
    redis::CheckMeaning(whole.answers[i]);
  }
  redis::CheckGreeting(whole.answers);
  // The same bytes as a URL, which people write.
  const auto options =
      redis::ParseRedisUrl("redis://" + std::string(bytes.substr(0, 1024)));
  if (options.ok()) {
    Check(!options->seeds.empty(), "a URL has an address");
  }
  return 0;
}
