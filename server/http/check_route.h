#ifndef TOLLGATE_SERVER_HTTP_CHECK_ROUTE_H_
#define TOLLGATE_SERVER_HTTP_CHECK_ROUTE_H_

#include "absl/strings/string_view.h"
#include "server/headers/rate_limit_headers.h"
#include "server/http/http_route.h"
#include "server/limiter/bucket_store.h"

namespace tollgate {

// Decides a request that is described by a query, for proxies that can only ask
// a URL (nginx's auth_request): `.domain=shop&.cost=2&user=ana&path=/login`.
//
// Names that begin with a dot are ours: `.domain` is required, `.cost` is 1
// unless given. They come before the entries, each once, so that a value which
// a proxy pastes in from its own client cannot set them. All others are the
// entries of one descriptor, in order; an entry whose key begins with a dot is
// written with two.
//
// 200 if it may go ahead, else 429 and who refuses; both with the headers of
// `profile`. 400 says what is wrong with the query. `done` gets the answer,
// maybe later and on another thread. Thread-safe.
void Check(BucketStore& store, HeaderProfile profile, absl::string_view query,
           HttpDone done);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_HTTP_CHECK_ROUTE_H_
