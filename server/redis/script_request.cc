#include "server/redis/script_request.h"

#include "absl/strings/str_cat.h"
#include "server/limiter/gcra.h"
#include "server/limiter/penalty.h"
#include "server/redis/state_text.h"

namespace tollgate::redis {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// Writes one flat MessagePack array of numbers and texts.
class Packer {
 public:
  void Number(uint64_t number) {
    ++count_;
    if (number < 0x80) return Byte(number);
    if (number <= 0xFFFFFFFF) {
      Byte(0xCE);
      return Bytes(number, 4);
    }
    Byte(0xCF);
    Bytes(number, 8);
  }
  void Text(absl::string_view text) {
    ++count_;
    Byte(0xDB);
    Bytes(text.size(), 4);
    absl::StrAppend(&out_, text);
  }
  void Instant(int64_t ns) {
    Number(static_cast<uint64_t>(ns / kSecondNs));
    Number(static_cast<uint64_t>(ns % kSecondNs));
  }
  void Span(const ExactDuration& span) {
    Instant(span.ns);
    Number(span.part);
  }
  std::string Finish() && {
    for (int i = 0; i < 4; ++i) {
      out_[1 + i] = static_cast<char>(count_ >> (24 - 8 * i));
    }
    return std::move(out_);
  }

 private:
  void Byte(uint64_t byte) { out_.push_back(static_cast<char>(byte)); }
  void Bytes(uint64_t number, int size) {
    for (int i = size; i-- > 0;) Byte(number >> (8 * i));
  }

  uint32_t count_ = 0;
  std::string out_ = std::string("\xDD\0\0\0\0", 5);
};

bool IsGcra(const Algorithm& algorithm) {
  return algorithm.name() == "token_bucket" ||
         algorithm.name() == "leaky_bucket";
}

// The most that may be missing after a take.
ExactDuration Room(const Limit& limit, uint64_t reserved) {
  return gcra::Add(limit, gcra::RefillTime(limit, limit.burst() - reserved),
                   ExactDuration{limit.hold_ns(), 0});
}

void PackKey(const ScriptKey& key, Packer& out) {
  const Limit& limit = key.limit;
  out.Text(key.algorithm->name());
  out.Text(LimitText(limit));
  out.Number(limit.tokens());
  if (key.algorithm == &Penalty()) {
    out.Span({limit.hold_ns(), 0});
    out.Span(limit.token_time());
    out.Span(limit.fill_time());
  } else if (!IsGcra(*key.algorithm)) {
    out.Instant(limit.period_ns());
  }
}

void PackAsk(const ScriptRequest& request, const ScriptAsk& ask, Packer& out) {
  const auto number = [&](size_t key) {
    out.Number(key == kNoKey ? 0 : key + 1);
  };
  out.Text(absl::string_view(reinterpret_cast<const char*>(&ask.kind), 1));
  number(ask.key);
  number(ask.penalty);
  out.Number(ask.group);
  const ScriptKey& key = request.keys[ask.key];
  if (IsGcra(*key.algorithm)) {
    out.Span(gcra::RefillTime(key.limit, ask.ask.cost));
    out.Span(Room(key.limit, ask.ask.reserved));
    return;
  }
  out.Number(ask.ask.cost);
  out.Number(ask.ask.reserved);
  if (ask.kind == ScriptAskKind::kRefund) out.Instant(ask.taken_at_ns);
  if (key.algorithm->TakesByTicket()) {
    out.Text(absl::StrCat(absl::Hex(ask.ask.ticket)));
  }
}

absl::Status NotOurs() {
  return absl::InternalError("the script's reply is not what it should be");
}

int64_t NowOf(const Reply& reply) {
  return reply.elements[1].integer * kSecondNs + reply.elements[2].integer;
}

}  // namespace

std::string Pack(const ScriptRequest& request) {
  Packer out;
  out.Text(absl::StrCat(request.takes ? "t" : "", request.writes ? "w" : "",
                        request.has_all_quotas ? "q" : ""));
  for (const ScriptKey& key : request.keys) PackKey(key, out);
  out.Number(request.asks.size());
  for (const ScriptAsk& ask : request.asks) PackAsk(request, ask, out);
  out.Number(request.carried_over.size());
  for (const CarriedOver& bucket : request.carried_over) {
    out.Number(bucket.key + 1);
    out.Text(bucket.was);
    out.Text(bucket.becomes);
  }
  return std::move(out).Finish();
}

absl::StatusOr<ScriptAnswer> Unpack(const ScriptRequest& request,
                                    const Reply& reply) {
  const auto& elements = reply.elements;
  if (elements.size() < 4) return NotOurs();
  ScriptAnswer answer;
  answer.now_ns = NowOf(reply);
  if (elements[0].text == "other") {
    for (size_t i = 3; i + 1 < elements.size(); i += 2) {
      const auto key = static_cast<size_t>(elements[i].integer - 1);
      if (key >= request.keys.size()) return NotOurs();
      answer.others.push_back({key, elements[i + 1].text});
    }
    return answer;
  }
  answer.marks = elements[3].text;
  if (elements.size() != 4 + request.keys.size() ||
      answer.marks.size() != request.asks.size()) {
    return NotOurs();
  }
  for (size_t i = 4; i < elements.size(); ++i) {
    answer.states.push_back(elements[i].text);
  }
  return answer;
}

}  // namespace tollgate::redis
