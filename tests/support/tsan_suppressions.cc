// For the race detector, in tests that use gRPC: what gRPC's headers put into
// our binaries is ordered by its completion queue, in a packaged library that
// the detector cannot see into. There the threads of a synchronous server end
// too, so that what its methods used seems to go beside them. Our own code is
// watched as ever. Add this file to the sources of such a test.

// The name is the detector's. NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_suppressions();

// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_suppressions() {
  return "race:grpc::internal::CallOpSet\n"
         "race:grpc::ClientAsyncResponseReader\n"
         "race:LimitedServiceTest::~LimitedServiceTest\n";
}
