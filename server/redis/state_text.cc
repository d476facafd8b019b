#include "server/redis/state_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "server/limiter/penalty.h"

namespace tollgate::redis {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

using Fields = std::vector<absl::string_view>;

// How the states of an algorithm are written.
enum class Shape {
  kGcra,
  kPenalty,
  kFixedWindow,
  kSlidingWindow,
  kLog,
  kSlots
};

Shape ShapeOf(const Algorithm& algorithm) {
  if (&algorithm == &Penalty()) return Shape::kPenalty;
  if (algorithm.TakesByTicket()) return Shape::kSlots;
  if (algorithm.name() == "fixed_window") return Shape::kFixedWindow;
  if (algorithm.name() == "sliding_window") return Shape::kSlidingWindow;
  if (algorithm.name() == "sliding_log") return Shape::kLog;
  return Shape::kGcra;
}

// Reads fields one after the other; once one is wrong, all are.
class Reader {
 public:
  explicit Reader(Fields fields) : fields_(std::move(fields)) {}

  int64_t Number() {
    int64_t number = 0;
    if (at_ == fields_.size() || !absl::SimpleAtoi(fields_[at_], &number) ||
        number < 0) {
      good_ = false;
      return 0;
    }
    ++at_;
    return number;
  }
  // Seconds and nanoseconds.
  int64_t Instant() {
    const int64_t seconds = Number();
    const int64_t ns = Number();
    constexpr int64_t kMaxSeconds = int64_t{1} << 33;
    if (seconds > kMaxSeconds || ns >= 2 * kSecondNs) good_ = false;
    return good_ ? seconds * kSecondNs + ns : 0;
  }
  // A mark before the first number of an item.
  void Skip(char mark) {
    if (at_ < fields_.size() && !fields_[at_].empty() &&
        fields_[at_][0] == mark) {
      fields_[at_].remove_prefix(1);
    } else {
      good_ = false;
    }
  }
  uint64_t Hex() {
    uint64_t number = 0;
    if (at_ == fields_.size() || !absl::SimpleHexAtoi(fields_[at_], &number)) {
      good_ = false;
      return 0;
    }
    ++at_;
    return number;
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return at_ == fields_.size(); }

 private:
  Fields fields_;
  size_t at_ = 0;
  bool good_ = true;
};

// The numbers of Algorithm::Save, and the instant that they are as of: now, or
// the bucket's own time if that is later.
struct Numbers {
  int64_t at_ns = 0;
  std::vector<int64_t> numbers;
};

Numbers ReadGcra(Reader& in, int64_t now_ns, Shape shape) {
  const int64_t full_at_ns = in.Instant();
  const int64_t part = in.Number();
  const int64_t at_ns = std::max(now_ns, in.Instant());
  const bool blocked = shape == Shape::kPenalty && in.Number() == 1;
  Numbers out = {at_ns, {full_at_ns - at_ns}};
  if (!blocked) out.numbers.push_back(part);
  return out;
}

Numbers ReadWindow(Reader& in, int64_t now_ns, Shape shape) {
  const int64_t start_ns = in.Instant();
  const int64_t at_ns = std::max(now_ns, start_ns);
  Numbers out = {at_ns, {start_ns - at_ns, in.Number()}};
  if (shape == Shape::kSlidingWindow) out.numbers.push_back(in.Number());
  return out;
}

Numbers ReadList(Reader& in, int64_t now_ns, Shape shape) {
  Numbers out;
  out.at_ns = std::max(now_ns, in.Instant());
  while (in.good() && !in.at_end()) {
    if (shape == Shape::kLog) {
      in.Skip('@');
      out.numbers.push_back(in.Instant() - out.at_ns);
      out.numbers.push_back(in.Number());
    } else {
      out.numbers.push_back(static_cast<int64_t>(in.Hex()));
      out.numbers.push_back(in.Number());
      out.numbers.push_back(in.Instant() - out.at_ns);
    }
  }
  return out;
}

Numbers Read(Reader& in, int64_t now_ns, Shape shape) {
  switch (shape) {
    case Shape::kGcra:
    case Shape::kPenalty:
      return ReadGcra(in, now_ns, shape);
    case Shape::kFixedWindow:
    case Shape::kSlidingWindow:
      return ReadWindow(in, now_ns, shape);
    case Shape::kLog:
    case Shape::kSlots:
      break;
  }
  return ReadList(in, now_ns, shape);
}

std::string InstantText(int64_t ns) {
  return absl::StrCat(ns / kSecondNs, " ", ns % kSecondNs);
}

}  // namespace

std::string LimitText(const Limit& limit) {
  return absl::StrCat(limit.tokens(), "/", limit.period_ns(), "/",
                      limit.burst(), "/", limit.hold_ns());
}

absl::StatusOr<Limit> ParseLimitText(absl::string_view text) {
  const Fields fields = absl::StrSplit(text, '/');
  Reader in(fields);
  const int64_t tokens = in.Number();
  const int64_t period_ns = in.Number();
  const int64_t burst = in.Number();
  const int64_t hold_ns = in.Number();
  if (!in.good() || !in.at_end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("got the limit \"", absl::CHexEscape(text),
                     "\", want tokens/period/burst/hold"));
  }
  const absl::StatusOr<Limit> limit =
      Limit::Create(static_cast<uint64_t>(tokens), absl::Nanoseconds(period_ns),
                    static_cast<uint64_t>(burst));
  return limit.ok() ? limit->WithHold(absl::Nanoseconds(hold_ns)) : limit;
}

absl::StatusOr<LooseBucket> ReadState(const Algorithm& algorithm,
                                      const Limit& limit,
                                      absl::string_view text, int64_t now_ns) {
  if (text.empty()) return LooseBucket(algorithm, limit, now_ns);
  Reader in(absl::StrSplit(text, ' '));
  const Numbers read = Read(in, now_ns, ShapeOf(algorithm));
  LooseBucket bucket(algorithm, limit, read.at_ns);
  if (!in.good() || !in.at_end() ||
      !algorithm.Restore(SavedState{read.numbers, read.at_ns}, limit,
                         read.at_ns, bucket.state())) {
    return absl::InvalidArgumentError(
        absl::StrCat("got \"", absl::CHexEscape(text.substr(0, 80)),
                     "\", want a state of ", algorithm.name()));
  }
  return bucket;
}

std::string WriteState(const LooseBucket& bucket) {
  const int64_t at_ns = bucket.at_ns();
  std::vector<int64_t> numbers;
  bucket.algorithm().Save(bucket.state(), bucket.limit(), at_ns, numbers);
  const auto instant = [&](size_t i) {
    return InstantText(std::max<int64_t>(at_ns + numbers[i], 0));
  };
  std::string text;
  switch (ShapeOf(bucket.algorithm())) {
    case Shape::kGcra:
      return absl::StrCat(instant(0), " ", numbers[1], " ", InstantText(at_ns));
    case Shape::kPenalty:
      return absl::StrCat(instant(0), " ", numbers.size() > 1 ? numbers[1] : 0,
                          " ", InstantText(at_ns),
                          numbers.size() > 1 ? " 0" : " 1");
    case Shape::kFixedWindow:
      return absl::StrCat(instant(0), " ", numbers[1]);
    case Shape::kSlidingWindow:
      return absl::StrCat(instant(0), " ", numbers[1], " ", numbers[2]);
    case Shape::kLog:
      text = InstantText(at_ns);
      for (size_t i = 0; i < numbers.size(); i += 2) {
        absl::StrAppend(&text, " @", instant(i), " ", numbers[i + 1]);
      }
      return text;
    case Shape::kSlots:
      break;
  }
  text = InstantText(at_ns);
  for (size_t i = 0; i < numbers.size(); i += 3) {
    absl::StrAppend(&text, " ", absl::Hex(static_cast<uint64_t>(numbers[i])),
                    " ", numbers[i + 1], " ", instant(i + 2));
  }
  return text;
}

}  // namespace tollgate::redis
