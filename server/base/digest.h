#ifndef TOLLGATE_SERVER_BASE_DIGEST_H_
#define TOLLGATE_SERVER_BASE_DIGEST_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tollgate {

// 128 bits of BLAKE2b in 32 hexadecimal digits: the same for equal data in
// every process, and nobody can make others meet. Thread-safe.
[[nodiscard]] std::string Digest(absl::string_view data);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_DIGEST_H_
