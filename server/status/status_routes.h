#ifndef TOLLGATE_SERVER_STATUS_STATUS_ROUTES_H_
#define TOLLGATE_SERVER_STATUS_STATUS_ROUTES_H_

#include <functional>
#include <vector>

#include "server/http/http_route.h"
#include "server/status/service_status.h"

namespace tollgate {

// The status page for people, at "/", and what it asks for:
//   /             HTML, in which nothing changes
//   /status.json  see StatusJson
//   /status.css, /status.js and its modules
// All forbid by Content-Security-Policy that the page runs or loads anything
// but these, and that another site frames it. `read` is called for each
// /status.json, on the server's threads, also at the same time.
[[nodiscard]] std::vector<HttpRoute> MakeStatusRoutes(
    std::function<ServiceStatus()> read);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_STATUS_STATUS_ROUTES_H_
