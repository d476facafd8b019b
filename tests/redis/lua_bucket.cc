#include "tests/redis/lua_bucket.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "server/limiter/penalty.h"
#include "server/redis/bucket_script.h"
#include "server/redis/script_request.h"
#include "server/redis/state_text.h"

namespace tollgate::redis {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr absl::string_view kTestClock =
    "local now_s, now_ns = tonumber(ARGV[2]), tonumber(ARGV[3])\n";
constexpr char kKey[] = "bucket";
constexpr char kFull[] = "full";

// A bucket that refuses, so that there is something to punish.
const Limit kOneASecond;
std::string FullBucket(int64_t now_ns) {
  return absl::StrCat(LimitText(kOneASecond), " ", now_ns / kSecond, " 0 1");
}

ScriptRequest RequestFor(const GoldenCase& c) {
  ScriptRequest request;
  request.takes = true;
  request.writes = true;
  request.keys.push_back({kKey, c.algorithm, c.limit});
  ScriptAsk ask;
  ask.key = 0;
  ask.ask = c.ask;
  ask.taken_at_ns = c.taken_at_ns;
  if (c.algorithm == &Penalty()) {
    request.keys.push_back({kFull, FindAlgorithm("fixed_window"), kOneASecond});
    ask.key = 1;
    ask.penalty = 0;
  } else if (c.refunds) {
    ask.kind = ScriptAskKind::kRefund;
  }
  request.asks.push_back(ask);
  return request;
}

std::string TextOf(const redisReply& reply) {
  return reply.type == REDIS_REPLY_NIL ? "" : std::string(reply.str, reply.len);
}

}  // namespace

LuaBucket::LuaBucket(int port) : context_(redisConnect("127.0.0.1", port)) {
  Send({"SCRIPT", "LOAD", TakeScript(kTestClock)});
  sha_ = TextOf(*Receive());
}

void LuaBucket::Send(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  ASSERT_EQ(
      redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()),
                             texts.data(), sizes.data()),
      REDIS_OK);
}

LuaBucket::ReplyPtr LuaBucket::Receive() {
  void* reply = nullptr;
  EXPECT_EQ(redisGetReply(context_.get(), &reply), REDIS_OK)
      << context_->errstr;
  return ReplyPtr(static_cast<redisReply*>(reply));
}

void LuaBucket::Ask(const GoldenCase& c) {
  Send({"DEL", kKey});
  if (!c.state.empty()) {
    Send({"SET", kKey, absl::StrCat(LimitText(c.limit), " ", c.state)});
  } else {
    Send({"PING"});
  }
  Send({"SET", kFull, FullBucket(c.now_ns)});
  const ScriptRequest request = RequestFor(c);
  std::vector<std::string> words = {"EVALSHA", sha_,
                                    absl::StrCat(request.keys.size())};
  for (const ScriptKey& key : request.keys) words.push_back(key.name);
  words.push_back(Pack(request));
  words.push_back(absl::StrCat(c.now_ns / kSecond));
  words.push_back(absl::StrCat(c.now_ns % kSecond));
  Send(words);
  Send({"GET", kKey});
}

GoldenOutcome LuaBucket::Hear(const GoldenCase& c) {
  for (int i = 0; i < 3; ++i) (void)Receive();
  const ReplyPtr reply = Receive();
  const ReplyPtr after = Receive();
  GoldenOutcome outcome;
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 5) {
    ADD_FAILURE() << TextOf(*reply) << " to " << LineOf(c, outcome);
    return outcome;
  }
  EXPECT_EQ(TextOf(*reply->element[0]), "ok");
  outcome.mark = TextOf(*reply->element[3])[0];
  EXPECT_EQ(TextOf(*reply->element[4]), c.state);
  const std::string text = TextOf(*after);
  const size_t space = text.find(' ');
  EXPECT_EQ(text.substr(0, space), text.empty() ? "" : LimitText(c.limit));
  outcome.state = Canonical(
      c, text.empty() ? "" : absl::string_view(text).substr(space + 1));
  return outcome;
}

std::vector<GoldenOutcome> LuaBucket::OutcomesOf(
    absl::Span<const GoldenCase> cases) {
  std::vector<GoldenOutcome> outcomes;
  constexpr size_t kTogether = 100;
  for (size_t i = 0; i < cases.size(); i += kTogether) {
    const auto some = cases.subspan(i, kTogether);
    for (const GoldenCase& c : some) Ask(c);
    for (const GoldenCase& c : some) outcomes.push_back(Hear(c));
  }
  return outcomes;
}

}  // namespace tollgate::redis
