# Language, output folders, and the tools that only make building faster.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# With the source folder as base and no working directory in the hash, a second clone (CI's, a colleague's) hits
# the objects of the first, third-party ones included: .venv and .deps lie inside the clone too.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()

# GNU ld takes several seconds for what the others do in a fraction of one.
find_program(PT2ONNX_LINKER NAMES mold ld.lld ld.gold DOC "Linker to use instead of the compiler's default")
if(PT2ONNX_LINKER)
  cmake_path(GET PT2ONNX_LINKER FILENAME linker)
  string(REPLACE "ld." "" linker ${linker})
  add_link_options(-fuse-ld=${linker})
endif()

if(PT2ONNX_SANITIZE)
  add_compile_options(-fsanitize=${PT2ONNX_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PT2ONNX_SANITIZE})
endif()
