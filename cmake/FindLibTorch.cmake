# Finds libtorch in a pip wheel (CPU or CUDA build) or in the libtorch zip, without PyTorch's own CMake package:
# that one asks for a CUDA toolkit whenever the wheel was built with CUDA, and pt2onnx calls nothing of CUDA.
#
# Looked at in this order: LIBTORCH_ROOT (cache or environment), CMAKE_PREFIX_PATH, .venv of this source tree,
# the torch of the python3 on PATH.
#
#   LibTorch::LibTorch       headers (as system headers), libtorch_cpu and libc10
#   LibTorch_VERSION, LibTorch_LIBRARY_DIR

set(LIBTORCH_ROOT "" CACHE PATH "Folder with libtorch's include/ and lib/ (site-packages/torch of a wheel will do)")

file(GLOB _venv_torch ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
set(_hints ${LIBTORCH_ROOT} $ENV{LIBTORCH_ROOT})
set(_fallbacks ${_venv_torch})
if(NOT _hints AND NOT _venv_torch AND NOT LibTorch_INCLUDE_DIR)
  find_program(_python NAMES python3 NO_CACHE)
  if(_python)
    # find_spec reads no file of torch, so it costs nothing and cannot fail on a broken install.
    execute_process(
      COMMAND ${_python} -c "from importlib.util import find_spec as f; s = f('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE _python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND _fallbacks ${_python_torch})
  endif()
endif()

# torch/script.h lives in include/, the C++ front end (torch/jit.h) below torch/csrc/api/include.
find_path(LibTorch_INCLUDE_DIR torch/script.h HINTS ${_hints} PATHS ${_fallbacks} PATH_SUFFIXES include)
if(LibTorch_INCLUDE_DIR)
  # Headers and libraries of one installation only: a mixture links and then crashes.
  cmake_path(GET LibTorch_INCLUDE_DIR PARENT_PATH _prefix)
  find_library(LibTorch_CPU_LIBRARY torch_cpu PATHS ${_prefix}/lib NO_DEFAULT_PATH)
  find_library(LibTorch_C10_LIBRARY c10 PATHS ${_prefix}/lib NO_DEFAULT_PATH)
  foreach(_header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(EXISTS ${LibTorch_INCLUDE_DIR}/${_header} AND NOT LibTorch_VERSION)
      file(READ ${LibTorch_INCLUDE_DIR}/${_header} _text)
      if(_text MATCHES "define TORCH_VERSION_MAJOR ([0-9]+).*define TORCH_VERSION_MINOR ([0-9]+).*define TORCH_VERSION_PATCH ([0-9]+)")
        set(LibTorch_VERSION ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
      endif()
    endif()
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "Run scripts/bootstrap (it installs the wheel into .venv), or pass -DLIBTORCH_ROOT=<dir>: an unpacked libtorch zip, or site-packages/torch of any Python environment.")
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY)

if(LibTorch_FOUND)
  cmake_path(GET LibTorch_CPU_LIBRARY PARENT_PATH LibTorch_LIBRARY_DIR)

  # Builds before 2.6 came with the old std::string ABI. The C++ libraries of a distribution are never built that
  # way, so there is no flag that could help; say it here, where a linker would print a page of mangled names.
  set(_config ${LibTorch_LIBRARY_DIR}/../share/cmake/Torch/TorchConfig.cmake)
  if(EXISTS ${_config})
    file(STRINGS ${_config} _old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
    if(_old_abi)
      message(FATAL_ERROR "libtorch in ${LibTorch_LIBRARY_DIR} was built with _GLIBCXX_USE_CXX11_ABI=0. "
        "Take a wheel of torch 2.6 or newer, or the libtorch zip marked 'cxx11 ABI'.")
    endif()
  endif()

  if(NOT TARGET LibTorch::LibTorch)
    add_library(LibTorch::c10 SHARED IMPORTED)
    set_target_properties(LibTorch::c10 PROPERTIES IMPORTED_LOCATION ${LibTorch_C10_LIBRARY})
    add_library(LibTorch::LibTorch SHARED IMPORTED)
    set_target_properties(LibTorch::LibTorch PROPERTIES
      IMPORTED_LOCATION ${LibTorch_CPU_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR};${LibTorch_INCLUDE_DIR}/torch/csrc/api/include"
      # The compiler must not be told another ABI than libtorch's by a stray flag of the environment.
      INTERFACE_COMPILE_DEFINITIONS _GLIBCXX_USE_CXX11_ABI=1
      INTERFACE_LINK_LIBRARIES LibTorch::c10
      # A CUDA build of libtorch_cpu names libraries that need not be on this machine.
      INTERFACE_LINK_OPTIONS -Wl,--allow-shlib-undefined)
  endif()
endif()
