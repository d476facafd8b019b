# What `cmake --install` gives: the two programs, the protos, and the client
# library with the headers that are its interface. find_package(tollgate) then
# has tollgate::client, and tollgate::client_grpc for gRPC services. The other
# libraries are there because those two are static; they bring no headers.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tollgate")
set(header_dir "${CMAKE_INSTALL_INCLUDEDIR}/tollgate")

set(libraries)
foreach(name IN ITEMS base limiter headers proto client client_grpc)
  set_target_properties(tollgate_${name} PROPERTIES EXPORT_NAME ${name})
  list(APPEND libraries tollgate_${name})
endforeach()
install(TARGETS ${libraries} EXPORT tollgate-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        INCLUDES DESTINATION "${header_dir}")
install(TARGETS tollgate tollgate-server)
install(FILES client/client.h client/decision.h client/http_headers.h
              client/options.h client/request.h client/stats.h client/tls.h
        DESTINATION "${header_dir}/client")
install(FILES client/grpc/call_entries.h client/grpc/limited_service.h
              client/grpc/refusal_status.h client/grpc/service_limiter.h
        DESTINATION "${header_dir}/client/grpc")
install(DIRECTORY proto/tollgate
        DESTINATION "${CMAKE_INSTALL_DATADIR}/tollgate/proto"
        FILES_MATCHING PATTERN "*.proto")

install(EXPORT tollgate-targets NAMESPACE tollgate::
        DESTINATION "${package_dir}")
configure_package_config_file(cmake/tollgate-config.cmake.in
  "${CMAKE_CURRENT_BINARY_DIR}/tollgate-config.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(
  "${CMAKE_CURRENT_BINARY_DIR}/tollgate-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tollgate-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/tollgate-config-version.cmake"
        DESTINATION "${package_dir}")
