# What comes out: libpt2onnx.so (the converter: embedders and plugins link it), bin/pt2onnx, and the installed tree.

# Where the loader finds libtorch and ONNX Runtime. An installed libpt2onnx looks beside itself first, so libtorch may
# be put there; else it uses the libtorch it was built with.
set(CMAKE_BUILD_RPATH ${LibTorch_LIBRARY_DIR} ${ONNXRuntime_LIBRARY_DIR})

get_property(layers GLOBAL PROPERTY PT2ONNX_LAYERS)
list(REMOVE_ITEM layers pt2onnx_cli)
if(NOT layers)
  return()
endif()

# Shared, because a plugin must meet the same classes and tables as the program that loads it.
add_library(pt2onnx SHARED)
add_library(pt2onnx::pt2onnx ALIAS pt2onnx)
target_link_libraries(pt2onnx PRIVATE ${layers})
target_include_directories(pt2onnx PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(pt2onnx PUBLIC cxx_std_20)
# libtorch_cpu brings a protobuf and an onnx of its own: only pt2onnx's own names may leave this library.
set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_options(pt2onnx PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${exports})
if(NOT PT2ONNX_SANITIZE)  # whose runtime is in the program, not in the library
  target_link_options(pt2onnx PRIVATE -Wl,-z,defs)  # a forgotten definition is an error here, not when it is called
endif()
set_target_properties(pt2onnx PROPERTIES
  LINKER_LANGUAGE CXX
  LINK_DEPENDS ${exports}
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH "$ORIGIN;${LibTorch_LIBRARY_DIR}")

if(TARGET pt2onnx_cli)
  add_executable(pt2onnx_bin $<TARGET_OBJECTS:pt2onnx_cli>)
  target_link_libraries(pt2onnx_bin PRIVATE pt2onnx pt2onnx_common)
  set_target_properties(pt2onnx_bin PROPERTIES
    OUTPUT_NAME pt2onnx
    LINKER_LANGUAGE CXX
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()

# --- cmake --install: bin/, lib/, include/pt2onnx/ and lib/cmake/pt2onnx/, which may be moved anywhere together -------
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pt2onnx)

install(TARGETS pt2onnx EXPORT pt2onnxTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET pt2onnx_bin)
  install(TARGETS pt2onnx_bin RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pt2onnx DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h)
install(EXPORT pt2onnxTargets NAMESPACE pt2onnx:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/pt2onnxConfig.cmake.in
  ${PROJECT_BINARY_DIR}/pt2onnxConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pt2onnxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pt2onnxConfig.cmake ${PROJECT_BINARY_DIR}/pt2onnxConfigVersion.cmake
  DESTINATION ${package_dir})

# An ONNX Runtime from outside the system's folders is copied in (libtorch is not: half a gigabyte, and usually
# shared with a Python that has it already).
if(PT2ONNX_WITH_ORT AND NOT ONNXRuntime_LIBRARY_DIR MATCHES "^/(usr/)?lib")
  file(REAL_PATH ${ONNXRuntime_LIBRARY} ort_file)
  install(PROGRAMS ${ort_file} DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libonnxruntime.so.1)
endif()
