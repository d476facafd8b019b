#include "server/rpc/convert.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/fakes.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

TEST(RequestView, ShowsEveryEntryOfEveryDescriptorInOrder) {
  v1::ShouldAllowRequest message =
      MakeRequest("shop", {{"user", "ana"}, {"ip", "192.0.2.1"}});
  message.add_descriptors();  // empty: for ValidateRequest to refuse
  v1::Entry& entry = *message.add_descriptors()->add_entries();
  entry.set_key("endpoint");
  RequestView view;
  const Request& request = view.Show(message, 77);
  EXPECT_EQ(request.domain, "shop");
  EXPECT_EQ(request.deadline_ns, 77);
  ASSERT_EQ(request.descriptors.size(), 3U);
  ASSERT_EQ(request.descriptors[0].size(), 2U);
  EXPECT_EQ(request.descriptors[0][1].key, "ip");
  EXPECT_EQ(request.descriptors[0][1].value, "192.0.2.1");
  EXPECT_TRUE(request.descriptors[1].empty());
  ASSERT_EQ(request.descriptors[2].size(), 1U);
  EXPECT_EQ(request.descriptors[2][0].key, "endpoint");
  EXPECT_EQ(request.descriptors[2][0].value, "");
}

TEST(RequestView, CopiesNoText) {
  const v1::ShouldAllowRequest message = UserRequest("ana");
  RequestView view;
  const Request& request = view.Show(message, 0);
  EXPECT_EQ(static_cast<const void*>(request.descriptors[0][0].value.data()),
            message.descriptors(0).entries(0).value().data());
}

TEST(RequestView, ShowsACostThatIsUnsetZeroOrLargest) {
  v1::ShouldAllowRequest message = UserRequest("ana");
  RequestView view;
  EXPECT_EQ(view.Show(message, 0).cost, 1U);
  message.set_cost(0);
  EXPECT_EQ(view.Show(message, 0).cost, 0U);
  message.set_cost(4294967295U);
  EXPECT_EQ(view.Show(message, 0).cost, 4294967295U);
}

TEST(RequestView, ForgetsTheMessageBefore) {
  RequestView view;
  v1::ShouldAllowRequest large =
      MakeRequest("shop", {{"a", "1"}, {"b", "2"}, {"c", "3"}});
  large.set_cost(9);
  view.Show(large, 5);
  const v1::ShouldAllowRequest small = MakeRequest("bank", {{"d", "4"}});
  const Request& request = view.Show(small, 6);
  EXPECT_EQ(request.domain, "bank");
  EXPECT_EQ(request.cost, 1U);
  ASSERT_EQ(request.descriptors.size(), 1U);
  ASSERT_EQ(request.descriptors[0].size(), 1U);
  EXPECT_EQ(request.descriptors[0][0].key, "d");
}

TEST(ToProto, WritesEveryFieldOfAStatusExactly) {
  RuleId rule;
  rule.name = "per-user";
  Decision decision;
  decision.outcome = Outcome::kRefused;
  decision.retry_after_ns = 2'000'000'001;
  decision.stands_for_ns = 1'000'000'002;
  RuleStatus& status = decision.statuses.emplace_back();
  status.rule = &rule;
  status.limit = Limit::Create(7, absl::Milliseconds(1500), 9).value();
  status.outcome = Outcome::kRefused;
  status.shadow = true;
  status.overflow = true;
  status.remaining = 5;
  status.retry_after_ns = 999'999'999;
  status.reset_after_ns = 3'000'000'000;
  v1::ShouldAllowResponse response;
  ToProto(decision, response);
  EXPECT_EQ(response.outcome(), v1::REFUSED);
  EXPECT_EQ(response.retry_after().seconds(), 2);
  EXPECT_EQ(response.retry_after().nanos(), 1);
  EXPECT_EQ(response.stands_for().seconds(), 1);
  EXPECT_EQ(response.stands_for().nanos(), 2);
  ASSERT_EQ(response.statuses_size(), 1);
  const v1::RuleStatus& out = response.statuses(0);
  EXPECT_EQ(out.rule(), "per-user");
  EXPECT_EQ(out.limit().tokens(), 7U);
  EXPECT_EQ(out.limit().burst(), 9U);
  EXPECT_EQ(out.limit().period().seconds(), 1);
  EXPECT_EQ(out.limit().period().nanos(), 500'000'000);
  EXPECT_EQ(out.remaining(), 5U);
  EXPECT_EQ(out.retry_after().seconds(), 0);
  EXPECT_EQ(out.retry_after().nanos(), 999'999'999);
  EXPECT_EQ(out.reset_after().seconds(), 3);
  EXPECT_EQ(out.reset_after().nanos(), 0);
  EXPECT_EQ(out.outcome(), v1::REFUSED);
  EXPECT_TRUE(out.shadow());
  EXPECT_TRUE(out.overflow());
}

TEST(ToProto, WritesTheOverflowSoThatItCanBeHandedBack) {
  Decision decision;
  v1::ShouldAllowResponse response;
  ToProto(decision, response);
  EXPECT_EQ(response.overflow(), "");
  decision.overflow = {{1, 2}, {0xFFFFFFFFFFFFFFFF, 0x0102030405060708}};
  ToProto(decision, response);
  EXPECT_EQ(response.overflow().size(), 32U);
  EXPECT_THAT(*OverflowOf(response.overflow()),
              testing::ElementsAreArray(decision.overflow));
}

TEST(OverflowOf, RefusesWhatTheServiceDoesNotGive) {
  EXPECT_TRUE(OverflowOf("")->empty());
  EXPECT_EQ(OverflowOf(std::string(16, 'x'))->size(), 1U);
  EXPECT_EQ(OverflowOf(std::string(16 * 1024, 'x'))->size(), 1024U);
  for (const size_t bytes :
       {size_t{1}, size_t{15}, size_t{17}, size_t{16 * 1025}}) {
    EXPECT_THAT(OverflowOf(std::string(bytes, 'x')),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         testing::HasSubstr("overflow: got ")))
        << bytes;
  }
}

TEST(ToProto, SaysHowLongToWaitOnlyOfARefusal) {
  Decision decision;
  v1::ShouldAllowResponse allowed;
  ToProto(decision, allowed);
  EXPECT_EQ(allowed.outcome(), v1::ALLOWED);
  EXPECT_FALSE(allowed.has_retry_after());
  EXPECT_FALSE(allowed.has_stands_for());
  decision.outcome = Outcome::kImpossible;
  v1::ShouldAllowResponse impossible;
  ToProto(decision, impossible);
  EXPECT_EQ(impossible.outcome(), v1::IMPOSSIBLE);
  EXPECT_FALSE(impossible.has_retry_after());
}

TEST(ToProto, SaysWhenItWasDecidedAndHowLongToDelay) {
  RuleId rule;
  rule.name = "shaped";
  Decision decision;
  decision.decided_at_ns = 1'700'000'000'000'000'001;
  v1::ShouldAllowResponse plain;
  ToProto(decision, plain);
  EXPECT_EQ(plain.decided_at().seconds(), 1'700'000'000);
  EXPECT_EQ(plain.decided_at().nanos(), 1);
  EXPECT_FALSE(plain.has_delay());
  EXPECT_EQ(plain.ticket(), "");
  decision.delay_ns = 1'500'000'000;
  RuleStatus& status = decision.statuses.emplace_back();
  status.rule = &rule;
  status.delay_ns = 1'500'000'000;
  v1::ShouldAllowResponse delayed;
  ToProto(decision, delayed);
  EXPECT_EQ(delayed.delay().seconds(), 1);
  EXPECT_EQ(delayed.delay().nanos(), 500'000'000);
  EXPECT_EQ(delayed.statuses(0).delay().seconds(), 1);
}

TEST(ToProto, ShowsNoLimitOfAnUnlimitedRule) {
  RuleId rule;
  rule.name = "staff";
  RuleStatus status;
  status.rule = &rule;
  status.unlimited = true;
  v1::RuleStatus out;
  ToProto(status, out);
  EXPECT_EQ(out.rule(), "staff");
  EXPECT_EQ(out.outcome(), v1::ALLOWED);
  EXPECT_TRUE(out.unlimited());
  EXPECT_FALSE(out.has_limit());
}

TEST(Ticket, IsTheSameBytesOnEveryMachine) {
  const HeldSlots slots[] = {
      {{0x0102030405060708, 0x1112131415161718}, 0x2122232425262728},
      {{0, 0xFFFFFFFFFFFFFFFF}, 1}};
  const std::string ticket = TicketOf(slots);
  EXPECT_EQ(ticket, std::string("\x01\x02\x03\x04\x05\x06\x07\x08"
                                "\x11\x12\x13\x14\x15\x16\x17\x18"
                                "\x21\x22\x23\x24\x25\x26\x27\x28"
                                "\0\0\0\0\0\0\0\0"
                                "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
                                "\0\0\0\0\0\0\0\x01",
                                48));
  const auto read = SlotsOf(ticket);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].fingerprint, slots[i].fingerprint);
    EXPECT_EQ((*read)[i].ticket, slots[i].ticket);
  }
}

}  // namespace
}  // namespace tollgate
