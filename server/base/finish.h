#ifndef TOLLGATE_SERVER_BASE_FINISH_H_
#define TOLLGATE_SERVER_BASE_FINISH_H_

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"

namespace tollgate {

// How a call that may be over later says that it is: called exactly once, maybe
// on another thread, with what became of it.
using Finish = absl::AnyInvocable<void(absl::Status)>;

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_FINISH_H_
