# Every third-party library, by the name the layer table uses. Debian's
# packages are the reference; newer releases of the same libraries must work.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(Protobuf REQUIRED)  # module mode: Debian ships no usable config
find_package(gRPC CONFIG REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
# Its own config is broken in Debian 12.
pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)
pkg_check_modules(microhttpd REQUIRED IMPORTED_TARGET libmicrohttpd)
if(NOT TARGET yaml-cpp::yaml-cpp)  # yaml-cpp before 0.8
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" "CCACHE_NOHASHDIR=1" "${CCACHE}")
endif()
find_program(LLD ld.lld)
if(LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld)
endif()
if(TOLLGATE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TOLLGATE_FUZZ needs Clang, whose libFuzzer it uses")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(TOLLGATE_SANITIZE)
  add_compile_options(-fsanitize=${TOLLGATE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TOLLGATE_SANITIZE})
  if(TOLLGATE_SANITIZE MATCHES "thread")
    # Else the packaged libraries would run our instrumented copies of their
    # own inline functions, whose locks TSan cannot see: false races.
    add_compile_options(-fvisibility=hidden -fvisibility-inlines-hidden)
  endif()
  if(TOLLGATE_SANITIZE MATCHES "undefined")
    # vptr looks at memory through a pipe, and so reports a good object while a
    # test has used up the descriptors.
    add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=vptr)
    add_link_options(-fno-sanitize=vptr)
  endif()
endif()
