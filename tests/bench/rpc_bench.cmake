# What a call costs the server; tests/bench/rpc_run measures.
tollgate_bench(empty_server SOURCES empty_server.cc
  LIBS tollgate::rpc absl::synchronization)

add_test(NAME RpcRun.RunsWithTinySizes
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/rpc_run" --rounds=1 --duration=100ms
          "--bin=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
set_tests_properties(RpcRun.RunsWithTinySizes PROPERTIES
  LABELS bench TIMEOUT 60
  PASS_REGULAR_EXPRESSION "example +batch +[0-9.]+ +- +- +[1-9]")

tollgate_bench(gateway_load SOURCES gateway_load.cc
  LIBS tollgate::cli tollgate::proto gRPC::grpc++)
add_test(NAME GatewayRun.RunsWithTinySizes
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/gateway_run" 1 100
          "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
set_tests_properties(GatewayRun.RunsWithTinySizes PROPERTIES
  LABELS bench TIMEOUT 60 PASS_REGULAR_EXPRESSION "ratio [0-9.]+")
