# Finds ONNX Runtime's C++ headers and library.
#
# Looked at in this order: ONNXRUNTIME_ROOT (cache or environment; include/ and lib/ below it), the system
# (Debian 13: libonnxruntime-dev), .deps/onnxruntime of this source tree (scripts/bootstrap).
#
#   ONNXRuntime::ONNXRuntime
#   ONNXRuntime_LIBRARY_DIR

set(ONNXRUNTIME_ROOT "" CACHE PATH "Folder with ONNX Runtime's include/ and lib/")

find_path(ONNXRuntime_INCLUDE_DIR onnxruntime_cxx_api.h
  HINTS ${ONNXRUNTIME_ROOT} $ENV{ONNXRUNTIME_ROOT}
  PATHS ${PROJECT_SOURCE_DIR}/.deps/onnxruntime
  PATH_SUFFIXES include include/onnxruntime include/onnxruntime/core/session)
if(ONNXRuntime_INCLUDE_DIR)
  # The library of the same installation: headers ask at start for the API version they were written for.
  string(REGEX REPLACE "/include(/onnxruntime.*)?$" "" _prefix ${ONNXRuntime_INCLUDE_DIR})
  find_library(ONNXRuntime_LIBRARY onnxruntime
    HINTS ${_prefix} PATH_SUFFIXES lib lib/${CMAKE_LIBRARY_ARCHITECTURE} lib64 NO_DEFAULT_PATH)
  file(STRINGS ${ONNXRuntime_INCLUDE_DIR}/onnxruntime_c_api.h _version REGEX "define ORT_API_VERSION [0-9]+")
  string(REGEX REPLACE ".*ORT_API_VERSION ([0-9]+).*" "1.\\1" ONNXRuntime_VERSION "${_version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ONNXRuntime
  REQUIRED_VARS ONNXRuntime_LIBRARY ONNXRuntime_INCLUDE_DIR
  VERSION_VAR ONNXRuntime_VERSION)
mark_as_advanced(ONNXRuntime_INCLUDE_DIR ONNXRuntime_LIBRARY)

if(ONNXRuntime_FOUND)
  cmake_path(GET ONNXRuntime_LIBRARY PARENT_PATH ONNXRuntime_LIBRARY_DIR)
  if(NOT TARGET ONNXRuntime::ONNXRuntime)
    add_library(ONNXRuntime::ONNXRuntime SHARED IMPORTED)
    set_target_properties(ONNXRuntime::ONNXRuntime PROPERTIES
      IMPORTED_LOCATION ${ONNXRuntime_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${ONNXRuntime_INCLUDE_DIR})
  endif()
endif()
