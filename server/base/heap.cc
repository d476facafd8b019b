#include "server/base/heap.h"

#include <malloc.h>

namespace tollgate {

void JoinFreedBlocksAtOnce() {
#ifdef M_MXFAST
  mallopt(M_MXFAST, 0);
#endif
}

}  // namespace tollgate
