#ifndef TOLLGATE_SERVER_ENVOY_DYNAMIC_METADATA_H_
#define TOLLGATE_SERVER_ENVOY_DYNAMIC_METADATA_H_

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "google/protobuf/struct.pb.h"
#include "server/limiter/decision.h"

namespace tollgate {

// Adds to `out`, for the gateway's logs and filters: `domain`; `descriptors`, a
// list of {entries: ["key=value", ...], limit: text of an override, hitsAddend:
// number}; `hitsAddend` of the request, if not 0; and `metadata`, the maps of
// the rules that did not refuse, one merged into the other in the order of the
// descriptors: maps within maps too, and what comes first stays.
void AddDynamicMetadata(
    const envoy::service::ratelimit::v3::RateLimitRequest& request,
    const Decision& decision, google::protobuf::Struct& out);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_ENVOY_DYNAMIC_METADATA_H_
