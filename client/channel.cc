#include "client/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

namespace tollgate::client {
namespace {

constexpr int kMaxAnswerBytes = 64 * 1024 * 1024;

// Leaves a server out as soon as it says that it is about to stop, while it
// still answers: gRPC's own end of a connection fails calls that cross it. Only
// round_robin looks at health.
constexpr char kRoundRobin[] =
    R"({"loadBalancingConfig":[{"round_robin":{}}],)"
    R"("healthCheckConfig":{"serviceName":"tollgate.v1.RateLimiter"}})";

int ToMs(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

grpc::ChannelArguments ChannelArgs(const GrpcTransportOptions& options) {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
              ToMs(options.min_reconnect_pause));
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS,
              ToMs(options.max_reconnect_pause));
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, ToMs(options.connect_timeout));
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ToMs(options.keepalive_interval));
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ToMs(options.keepalive_timeout));
  args.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // A second attempt of a call that was answered too late would charge twice.
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // Names are asked for again when a connection is lost: then soon enough to
  // be back in two seconds where the service has moved.
  args.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1000);
  args.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  // The service is in the caller's own network.
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Answers to a batch under many rules are long, and the service is trusted.
  args.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  if (options.load_balancing == LoadBalancing::kRoundRobin) {
    args.SetServiceConfigJSON(kRoundRobin);
  }
  if (options.tls.has_value() && !options.tls->server_name.empty()) {
    args.SetSslTargetNameOverride(options.tls->server_name);
  }
  return args;
}

}  // namespace

std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(
    const std::optional<TlsOptions>& tls) {
  if (!tls.has_value()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = tls->ca;
  options.pem_cert_chain = tls->cert;
  options.pem_private_key = tls->key;
  return grpc::SslCredentials(options);
}

std::shared_ptr<grpc::Channel> MakeChannel(
    const GrpcTransportOptions& options) {
  return grpc::CreateCustomChannel(options.target, MakeCredentials(options.tls),
                                   ChannelArgs(options));
}

}  // namespace tollgate::client
