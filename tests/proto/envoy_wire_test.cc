// Holds our own text of Envoy's messages to the wire that gateways speak.

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

namespace tollgate {
namespace {

using ::google::protobuf::DescriptorPool;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::FieldDescriptor;

struct Message {
  const char* name;
  // Each as "number name type", a repeated one with a '*', in order of number.
  std::vector<std::string> fields;
};

std::string TypeOf(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_MESSAGE:
      return field.message_type()->full_name();
    case FieldDescriptor::TYPE_ENUM:
      return field.enum_type()->full_name();
    default:
      return field.type_name();
  }
}

class EnvoyMessage : public ::testing::TestWithParam<Message> {};

TEST_P(EnvoyMessage, HasTheFieldsOfTheWire) {
  const auto* const message =
      DescriptorPool::generated_pool()->FindMessageTypeByName(GetParam().name);
  ASSERT_NE(message, nullptr) << GetParam().name;
  std::map<int, std::string> fields;
  for (int i = 0; i < message->field_count(); ++i) {
    const FieldDescriptor& field = *message->field(i);
    fields[field.number()] =
        absl::StrCat(field.number(), " ", field.name(), " ", TypeOf(field),
                     field.is_repeated() ? "*" : "");
  }
  std::vector<std::string> found;
  for (const auto& [number, text] : fields) found.push_back(text);
  EXPECT_EQ(found, GetParam().fields);
}

#define RLS "envoy.service.ratelimit.v3."
#define COMMON "envoy.extensions.common.ratelimit.v3."
INSTANTIATE_TEST_SUITE_P(
    All, EnvoyMessage,
    ::testing::Values(
        Message{
            RLS "RateLimitRequest",
            {"1 domain string", "2 descriptors " COMMON "RateLimitDescriptor*",
             "3 hits_addend uint32"}},
        Message{
            RLS "RateLimitResponse",
            {"1 overall_code " RLS "RateLimitResponse.Code",
             "2 statuses " RLS "RateLimitResponse.DescriptorStatus*",
             "3 response_headers_to_add envoy.config.core.v3.HeaderValue*",
             "4 request_headers_to_add envoy.config.core.v3.HeaderValue*",
             "5 raw_body bytes", "6 dynamic_metadata google.protobuf.Struct",
             "7 quota " RLS "RateLimitResponse.Quota"}},
        Message{RLS "RateLimitResponse.RateLimit",
                {"1 requests_per_unit uint32",
                 "2 unit " RLS "RateLimitResponse.RateLimit.Unit",
                 "3 name string"}},
        Message{RLS "RateLimitResponse.Quota",
                {"1 requests uint32", "2 valid_until google.protobuf.Timestamp",
                 "3 id string"}},
        Message{RLS "RateLimitResponse.DescriptorStatus",
                {"1 code " RLS "RateLimitResponse.Code",
                 "2 current_limit " RLS "RateLimitResponse.RateLimit",
                 "3 limit_remaining uint32",
                 "4 duration_until_reset google.protobuf.Duration",
                 "5 quota " RLS "RateLimitResponse.Quota"}},
        Message{COMMON "RateLimitDescriptor",
                {"1 entries " COMMON "RateLimitDescriptor.Entry*",
                 "2 limit " COMMON "RateLimitDescriptor.RateLimitOverride",
                 "3 hits_addend google.protobuf.UInt64Value",
                 "4 is_negative_hits bool"}},
        Message{COMMON "RateLimitDescriptor.Entry",
                {"1 key string", "2 value string"}},
        Message{COMMON "RateLimitDescriptor.RateLimitOverride",
                {"1 requests_per_unit uint32",
                 "2 unit envoy.type.v3.RateLimitUnit"}},
        Message{"envoy.config.core.v3.HeaderValue",
                {"1 key string", "2 value string", "3 raw_value bytes"}}));
#undef RLS
#undef COMMON

std::string ValuesOf(const char* name) {
  const EnumDescriptor* const values =
      DescriptorPool::generated_pool()->FindEnumTypeByName(name);
  if (values == nullptr) return "no such enum";
  std::vector<std::string> texts;
  for (int i = 0; i < values->value_count(); ++i) {
    texts.push_back(absl::StrCat(values->value(i)->name(), "=",
                                 values->value(i)->number()));
  }
  return absl::StrJoin(texts, " ");
}

TEST(EnvoyEnums, HaveTheNumbersOfTheWire) {
  EXPECT_EQ(ValuesOf("envoy.service.ratelimit.v3.RateLimitResponse.Code"),
            "UNKNOWN=0 OK=1 OVER_LIMIT=2");
  EXPECT_EQ(
      ValuesOf("envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit"),
      "UNKNOWN=0 SECOND=1 MINUTE=2 HOUR=3 DAY=4 MONTH=5 YEAR=6 WEEK=7");
  EXPECT_EQ(ValuesOf("envoy.type.v3.RateLimitUnit"),
            "UNKNOWN=0 SECOND=1 MINUTE=2 HOUR=3 DAY=4 MONTH=5 YEAR=6");
}

TEST(EnvoyService, HasTheMethodOfTheWire) {
  const auto* const service =
      DescriptorPool::generated_pool()->FindServiceByName(
          "envoy.service.ratelimit.v3.RateLimitService");
  ASSERT_NE(service, nullptr);
  ASSERT_EQ(service->method_count(), 1);
  EXPECT_EQ(service->method(0)->name(), "ShouldRateLimit");
  EXPECT_EQ(service->method(0)->input_type()->full_name(),
            "envoy.service.ratelimit.v3.RateLimitRequest");
  EXPECT_EQ(service->method(0)->output_type()->full_name(),
            "envoy.service.ratelimit.v3.RateLimitResponse");
  EXPECT_FALSE(service->method(0)->client_streaming());
  EXPECT_FALSE(service->method(0)->server_streaming());
}

// The protocol's enum has no WEEK, yet its number travels.
TEST(EnvoyUnit, KeepsANumberThatHasNoName) {
  envoy::extensions::common::ratelimit::v3::RateLimitDescriptor descriptor;
  descriptor.mutable_limit()->set_unit(
      static_cast<envoy::type::v3::RateLimitUnit>(7));
  envoy::extensions::common::ratelimit::v3::RateLimitDescriptor read;
  ASSERT_TRUE(read.ParseFromString(descriptor.SerializeAsString()));
  EXPECT_EQ(static_cast<int>(read.limit().unit()), 7);
}

// A descriptor as a gateway sends it, byte by byte: field 3 is a message.
TEST(EnvoyDescriptor, IsReadFromItsBytes) {
  envoy::service::ratelimit::v3::RateLimitRequest request;
  ASSERT_TRUE(
      request.ParseFromString(std::string("\x0A\x01"
                                          "d"
                                          "\x12\x12"
                                          "\x0A\x06\x0A\x01k\x12\x01v"
                                          "\x12\x04\x08\x05\x10\x02"
                                          "\x1A\x00"
                                          "\x20\x01",
                                          23)));
  EXPECT_EQ(request.domain(), "d");
  ASSERT_EQ(request.descriptors_size(), 1);
  const auto& descriptor = request.descriptors(0);
  EXPECT_EQ(descriptor.entries(0).key(), "k");
  EXPECT_EQ(descriptor.entries(0).value(), "v");
  EXPECT_EQ(descriptor.limit().requests_per_unit(), 5U);
  EXPECT_EQ(descriptor.limit().unit(), envoy::type::v3::MINUTE);
  EXPECT_TRUE(descriptor.has_hits_addend());
  EXPECT_EQ(descriptor.hits_addend().value(), 0U);
  EXPECT_TRUE(descriptor.is_negative_hits());
}

}  // namespace
}  // namespace tollgate
