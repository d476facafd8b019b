#ifndef TOLLGATE_SERVER_BASE_HEAP_H_
#define TOLLGATE_SERVER_BASE_HEAP_H_

namespace tollgate {

// Has the general allocator join each small block that is freed with its
// neighbours at once. Left to itself glibc keeps such blocks apart, and joins
// all of them in whichever call asks for a large block next: after a sweep has
// freed the state of a million buckets, some decision took 12 to 20 ms. Called
// once, before there are threads. Does nothing with another allocator.
void JoinFreedBlocksAtOnce();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_HEAP_H_
