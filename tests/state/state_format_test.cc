#include "server/state/state_format.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/state/block.h"
#include "tests/support/status_matchers.h"

namespace tollgate::state {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(StateFormat, ReadsTheNumbersThatItWrote) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> numbers = {0,  1,       -1,   63,   -64,
                                        64, 1 << 20, kMin, kMax, kMin + 1};
  std::string bytes;
  for (const int64_t number : numbers) {
    AppendSigned(number, bytes);
    AppendVarint(static_cast<uint64_t>(number), bytes);
    AppendFixed64(static_cast<uint64_t>(number), bytes);
  }
  Decoder in(bytes);
  for (const int64_t number : numbers) {
    EXPECT_EQ(in.Signed(), number);
    EXPECT_EQ(in.Varint(), static_cast<uint64_t>(number));
    EXPECT_EQ(in.Fixed64(), static_cast<uint64_t>(number));
  }
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.left(), 0u);
}

TEST(StateFormat, FindsNothingMoreOnceSomethingWasMissing) {
  Decoder in("\x01\x02");
  EXPECT_EQ(in.Fixed32(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.Varint(), 0u);
  EXPECT_EQ(in.Bytes(0), "");
  const std::string ones(20, '\xFF');
  Decoder endless(ones);
  EXPECT_EQ(endless.Varint(), 0u);
  EXPECT_FALSE(endless.ok());
}

TEST(StateFormat, ReadsTheHeaderThatItWrote) {
  const Header header = {42, {{1, 2, 3}}};
  const auto read = DecodeHeader(EncodeHeader(header));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->saved_at_ns, 42);
  EXPECT_EQ(read->key.bytes, header.key.bytes);
}

TEST(StateFormat, SaysWhatIsWrongWithAHeader) {
  std::string header = EncodeHeader({42, {}});
  EXPECT_THAT(DecodeHeader("").status(),
              StatusIs(kInvalid, HasSubstr("empty")));
  EXPECT_THAT(DecodeHeader("rules:\n  - name: a\n").status(),
              StatusIs(kInvalid, HasSubstr("no state file")));
  EXPECT_THAT(DecodeHeader(header.substr(0, 55)).status(),
              StatusIs(kInvalid, HasSubstr("ends in its header")));
  header[30] ^= 1;
  EXPECT_THAT(DecodeHeader(header).status(),
              StatusIs(kInvalid, HasSubstr("damaged")));
  header[8] = 2;
  EXPECT_THAT(DecodeHeader(header).status(),
              StatusIs(kInvalid, HasSubstr("got version 2, want 1")));
}

TEST(StateFormat, ABlockIsIntactOnlyAsItWasWritten) {
  const std::string block = EncodeBlock(3, 42, "payload");
  Frame frame;
  ASSERT_TRUE(DecodeFrame(block.substr(0, kFrameBytes), frame));
  EXPECT_EQ(frame.buckets, 3u);
  EXPECT_EQ(frame.at_ns, 42);
  EXPECT_TRUE(IsIntact(frame, "payload"));
  EXPECT_FALSE(IsIntact(frame, "paYload"));
  EXPECT_FALSE(IsIntact(frame, "payloa"));
  frame.buckets = 4;
  EXPECT_FALSE(IsIntact(frame, "payload"));
}

TEST(StateFormat, ABlockAboveTheLimitIsNone) {
  Frame frame;
  EXPECT_TRUE(DecodeFrame(EncodeBlock(1, 0, std::string(kMaxPayloadBytes, 'x'))
                              .substr(0, kFrameBytes),
                          frame));
  EXPECT_FALSE(
      DecodeFrame(EncodeBlock(1, 0, std::string(kMaxPayloadBytes + 1, 'x'))
                      .substr(0, kFrameBytes),
                  frame));
}

TEST(StateBlock, BelievesNoCount) {
  struct Count final : BlockVisitor {
    void OnLimit(uint32_t, const SavedLimit&) override { ++limits; }
    void OnBucket(uint64_t, const Fingerprint&,
                  absl::Span<const int64_t>) override {
      ++buckets;
    }
    int limits = 0;
    int buckets = 0;
  };
  Count count;
  std::string many;
  AppendVarint(0, many);
  EXPECT_FALSE(VisitBlock(many, 0xFFFFFFFF, count));  // buckets
  std::string limits;
  AppendVarint(uint64_t{1} << 60, limits);
  EXPECT_FALSE(VisitBlock(limits, 1, count));
  std::string numbers;
  AppendVarint(0, numbers);
  numbers.append(16, 'f');
  AppendVarint(0, numbers);
  AppendVarint(uint64_t{1} << 60, numbers);
  EXPECT_FALSE(VisitBlock(numbers, 1, count));
  std::string trailing;
  AppendVarint(0, trailing);
  trailing.push_back('x');
  EXPECT_FALSE(VisitBlock(trailing, 0, count));
  EXPECT_EQ(count.limits + count.buckets, 0);
}

}  // namespace
}  // namespace tollgate::state
