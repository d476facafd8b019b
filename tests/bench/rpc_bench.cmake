# What a call costs the server; tests/bench/rpc_run measures.
tollgate_bench(empty_server SOURCES empty_server.cc
  LIBS tollgate::rpc absl::synchronization)

add_test(NAME RpcRun.RunsWithTinySizes
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/rpc_run" --rounds=1 --duration=100ms
          "--bin=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
set_tests_properties(RpcRun.RunsWithTinySizes PROPERTIES
  LABELS bench TIMEOUT 60
  PASS_REGULAR_EXPRESSION "example +batch +[0-9.]+ +- +- +[1-9]")
