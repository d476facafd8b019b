#include "server/rpc/convert.h"

#include "gtest/gtest.h"
#include "tests/rpc/fakes.h"

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
  RuleStatus& status = decision.statuses.emplace_back();
  status.rule = &rule;
  status.limit = Limit::Create(7, absl::Milliseconds(1500), 9).value();
  status.outcome = Outcome::kRefused;
  status.shadow = true;
  status.remaining = 5;
  status.retry_after_ns = 999'999'999;
  status.reset_after_ns = 3'000'000'000;
  v1::ShouldAllowResponse response;
  ToProto(decision, response);
  EXPECT_EQ(response.outcome(), v1::REFUSED);
  EXPECT_EQ(response.retry_after().seconds(), 2);
  EXPECT_EQ(response.retry_after().nanos(), 1);
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
}

TEST(ToProto, SaysHowLongToWaitOnlyOfARefusal) {
  Decision decision;
  v1::ShouldAllowResponse allowed;
  ToProto(decision, allowed);
  EXPECT_EQ(allowed.outcome(), v1::ALLOWED);
  EXPECT_FALSE(allowed.has_retry_after());
  decision.outcome = Outcome::kImpossible;
  v1::ShouldAllowResponse impossible;
  ToProto(decision, impossible);
  EXPECT_EQ(impossible.outcome(), v1::IMPOSSIBLE);
  EXPECT_FALSE(impossible.has_retry_after());
}

}  // namespace
}  // namespace tollgate
