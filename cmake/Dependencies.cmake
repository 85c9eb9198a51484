# Third-party libraries. Who may use which is decided in src/*/CMakeLists.txt.

find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(LibTorch 2.6 REQUIRED)

set(PT2ONNX_WITH_ORT 0)
if(PT2ONNX_ORT)
  find_package(ONNXRuntime)
  if(ONNXRuntime_FOUND)
    set(PT2ONNX_WITH_ORT 1)
  else()
    message(WARNING "ONNX Runtime was not found: this pt2onnx will export, but `--verify` and the numeric tests "
      "are left out. Run scripts/bootstrap, or pass -DONNXRUNTIME_ROOT=<dir with include/ and lib/>.")
  endif()
endif()

# onnx comes as a subproject: its installed CMake package wants a Protobuf CMake package, which Debian lacks.
if(NOT EXISTS ${ONNX_ROOT}/onnx/checker.h)
  message(FATAL_ERROR "No onnx sources in ${ONNX_ROOT}. Run scripts/bootstrap, or pass -DONNX_ROOT=<unpacked onnx sdist>.")
endif()
set(Python3_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)  # runs onnx's own gen_proto.py, nothing else
if(NOT EXISTS ${Python3_EXECUTABLE})
  unset(Python3_EXECUTABLE)
endif()

function(pt2onnx_add_onnx)
  set(ONNX_INSTALL OFF)
  set(ONNX_ML ON)
  set(ONNX_BUILD_TESTS OFF)
  set(ONNX_BUILD_PYTHON OFF)
  set(BUILD_SHARED_LIBS OFF)
  # Debian's libprotobuf.a is built for executables only (its thread-locals cannot go into a shared library).
  set(ONNX_USE_PROTOBUF_SHARED_LIBS ON)
  # Its warnings are not ours to mend.
  string(APPEND CMAKE_CXX_FLAGS " -w")
  add_subdirectory(${ONNX_ROOT_SOURCE} ${PROJECT_BINARY_DIR}/onnx EXCLUDE_FROM_ALL SYSTEM)
endfunction()
set(ONNX_ROOT_SOURCE ${ONNX_ROOT})  # onnx sets ONNX_ROOT itself
pt2onnx_add_onnx()
