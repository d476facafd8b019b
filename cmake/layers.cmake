# The only two ways to make a target. tollgate_library() checks what a library
# links against the layer table of ARCHITECTURE.md, so that a link which the
# table does not name stops configure.
set(TOLLGATE_LAYER_base "")
set(TOLLGATE_LAYER_proto "")
set(TOLLGATE_LAYER_limiter base)
set(TOLLGATE_LAYER_headers base limiter)
set(TOLLGATE_LAYER_rules base limiter)
set(TOLLGATE_LAYER_redis base limiter)
set(TOLLGATE_LAYER_metrics base limiter)
set(TOLLGATE_LAYER_state base limiter)
set(TOLLGATE_LAYER_net base)
set(TOLLGATE_LAYER_envoy base limiter headers proto)
set(TOLLGATE_LAYER_rpc base limiter headers envoy net proto)
set(TOLLGATE_LAYER_http base limiter headers metrics net)
set(TOLLGATE_LAYER_status base limiter headers metrics http)
set(TOLLGATE_LAYER_app base limiter headers rules redis metrics net state envoy
    rpc http status)
set(TOLLGATE_LAYER_client base limiter headers proto)
set(TOLLGATE_LAYER_client_grpc client proto)
set(TOLLGATE_LAYER_cli base limiter rules client proto)
set(TOLLGATE_FOREIGN_base sodium)
set(TOLLGATE_FOREIGN_proto gRPC protobuf)
set(TOLLGATE_FOREIGN_limiter "")
set(TOLLGATE_FOREIGN_headers "")
set(TOLLGATE_FOREIGN_rules yaml-cpp spdlog)
set(TOLLGATE_FOREIGN_redis hiredis spdlog)
set(TOLLGATE_FOREIGN_metrics prometheus-cpp)
set(TOLLGATE_FOREIGN_state sodium spdlog)
set(TOLLGATE_FOREIGN_net "")
set(TOLLGATE_FOREIGN_envoy protobuf)
set(TOLLGATE_FOREIGN_rpc gRPC protobuf spdlog)
set(TOLLGATE_FOREIGN_http microhttpd spdlog)
set(TOLLGATE_FOREIGN_status nlohmann-json)
set(TOLLGATE_FOREIGN_app CLI11 OpenSSL spdlog)
set(TOLLGATE_FOREIGN_client gRPC protobuf)
set(TOLLGATE_FOREIGN_client_grpc gRPC protobuf)
set(TOLLGATE_FOREIGN_cli CLI11 gRPC protobuf)

set(TOLLGATE_TARGETS_sodium PkgConfig::sodium)
set(TOLLGATE_TARGETS_gRPC gRPC::grpc++ gRPC::grpc++_reflection)
set(TOLLGATE_TARGETS_protobuf protobuf::libprotobuf)
set(TOLLGATE_TARGETS_OpenSSL OpenSSL::SSL OpenSSL::Crypto)
set(TOLLGATE_TARGETS_yaml-cpp yaml-cpp::yaml-cpp)
set(TOLLGATE_TARGETS_hiredis PkgConfig::hiredis)
set(TOLLGATE_TARGETS_prometheus-cpp prometheus-cpp::core)
set(TOLLGATE_TARGETS_microhttpd PkgConfig::microhttpd)
set(TOLLGATE_TARGETS_nlohmann-json nlohmann_json::nlohmann_json)
set(TOLLGATE_TARGETS_spdlog spdlog::spdlog)
set(TOLLGATE_TARGETS_CLI11 CLI11::CLI11)

set(TOLLGATE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
    -Wno-missing-field-initializers -Werror)

# tollgate_library(NAME SOURCES file... [DEPS layer...] [FOREIGN name...]
#                  [PUBLIC_FOREIGN name...] [ABSL target...])
# Makes the library of one layer, as tollgate::NAME. FOREIGN libraries stay
# PRIVATE; PUBLIC_FOREIGN is for the generated code of proto/ and the headers of
# client/grpc alone.
function(tollgate_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;FOREIGN;PUBLIC_FOREIGN;ABSL"
                        ${ARGN})
  foreach(dep IN LISTS ARG_DEPS)
    if(NOT dep IN_LIST TOLLGATE_LAYER_${NAME})
      message(FATAL_ERROR "layer '${NAME}' must not link layer '${dep}': "
              "see the layer table in ARCHITECTURE.md and cmake/layers.cmake")
    endif()
  endforeach()
  foreach(lib IN LISTS ARG_FOREIGN ARG_PUBLIC_FOREIGN)
    if(NOT lib IN_LIST TOLLGATE_FOREIGN_${NAME})
      message(FATAL_ERROR "layer '${NAME}' must not link '${lib}': see the "
              "layer table in ARCHITECTURE.md and cmake/layers.cmake")
    endif()
  endforeach()
  add_library(tollgate_${NAME} STATIC ${ARG_SOURCES})
  add_library(tollgate::${NAME} ALIAS tollgate_${NAME})
  target_include_directories(tollgate_${NAME} PUBLIC
                             "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(tollgate_${NAME} PUBLIC tollgate::${dep})
  endforeach()
  foreach(lib IN LISTS ARG_FOREIGN)
    target_link_libraries(tollgate_${NAME} PRIVATE ${TOLLGATE_TARGETS_${lib}})
  endforeach()
  foreach(lib IN LISTS ARG_PUBLIC_FOREIGN)
    target_link_libraries(tollgate_${NAME} PUBLIC ${TOLLGATE_TARGETS_${lib}})
  endforeach()
  target_link_libraries(tollgate_${NAME} PUBLIC ${ARG_ABSL} Threads::Threads)
  tollgate_compile_rules(tollgate_${NAME})
endfunction()

# tollgate_test(NAME SOURCES file... LIBS target... [LABEL label] [TIMEOUT s]
#               [ALONE] [ONE_THREAD])
# Makes a GoogleTest binary and registers each of its tests with CTest under
# LABEL (default unit). ALONE: while no other test runs. ONE_THREAD: there is
# nothing for the race detector, so not in its preset.
function(tollgate_test NAME)
  cmake_parse_arguments(ARG "ALONE;ONE_THREAD" "LABEL;TIMEOUT" "SOURCES;LIBS"
                        ${ARGN})
  if(ARG_ONE_THREAD AND TOLLGATE_SANITIZE MATCHES "thread")
    return()
  endif()
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_LIBS} GTest::gmock
                        GTest::gtest_main)
  tollgate_compile_rules(${NAME})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(TOLLGATE_SANITIZE AND ARG_LABEL MATCHES "unit|rpc|integration")
    # What is tested is optimised; to optimise tests that do little themselves
    # would take longer than to run them.
    target_compile_options(${NAME} PRIVATE -O0)
  endif()
  gtest_discover_tests(${NAME} DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT}
                       RUN_SERIAL ${ARG_ALONE})
endfunction()

function(tollgate_compile_rules TARGET)
  target_compile_options(${TARGET} PRIVATE ${TOLLGATE_WARNINGS})
  if(TOLLGATE_TIDY)
    set_target_properties(${TARGET} PROPERTIES CXX_CLANG_TIDY clang-tidy)
  endif()
endfunction()
