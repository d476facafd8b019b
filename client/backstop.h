#ifndef TOLLGATE_CLIENT_BACKSTOP_H_
#define TOLLGATE_CLIENT_BACKSTOP_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "client/decision.h"
#include "client/options.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"

namespace tollgate::client {

// The limiter inside the client: the same core as the service's, with one rule
// and one bucket for all requests. Thread-safe.
class Backstop {
 public:
  // `clock` must outlive the backstop. INVALID_ARGUMENT if the options' limit
  // cannot be kept.
  static absl::StatusOr<std::unique_ptr<Backstop>> Create(
      const ClientOptions& options, const Clock& clock);

  // Takes `cost` tokens (0 is a peek) if they are there.
  Decision Decide(uint32_t cost);

 private:
  explicit Backstop(const Clock& clock);

  Limiter limiter_;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_BACKSTOP_H_
