# pt2onnx_layer(<name> [LIBS <target>...]): the *.cpp of the calling folder become OBJECT library pt2onnx_<name>.
#
# OBJECT libraries, because a linker drops nothing from them, and because LIBS is PRIVATE: the include path of
# torch ends at the frontend, that of onnx at the emitter. They must never meet in one target, since torch's include
# folder carries old google/protobuf headers that would shadow the real ones.
#
# Sources are globbed: a new file in symbolics/ (a new family of operators) is to be picked up by the next build
# with no list to edit. CONFIGURE_DEPENDS makes ninja look for new files each time.

# What every own source sees: the public headers, the layers' headers ("registry/table.h", "symbolics/onnx.h") and
# the neutral libraries.
add_library(pt2onnx_common INTERFACE)
target_include_directories(pt2onnx_common INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_compile_features(pt2onnx_common INTERFACE cxx_std_20)
target_link_libraries(pt2onnx_common INTERFACE fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json)
target_compile_definitions(pt2onnx_common INTERFACE PT2ONNX_WITH_ORT=${PT2ONNX_WITH_ORT})
target_compile_options(pt2onnx_common INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wunused -Wconversion
  -Wno-sign-conversion  # sizes are int64_t in torch and onnx, size_t in the standard library: casts would hide bugs
  -Wimplicit-fallthrough -Wextra-semi
  -Wno-missing-field-initializers  # a member with a default is there to be left out
  # -Wmaybe-uninitialized: GCC 12 reports every other std::optional<int64_t>; asan and clang-tidy find the real ones
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wduplicated-cond -Wduplicated-branches -Wlogical-op>
  $<$<BOOL:${PT2ONNX_WERROR}>:-Werror>)

define_property(GLOBAL PROPERTY PT2ONNX_LAYERS BRIEF_DOCS "Layers that have sources")

function(pt2onnx_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    message(STATUS "pt2onnx: no sources in ${CMAKE_CURRENT_SOURCE_DIR} yet")
    return()
  endif()
  add_library(pt2onnx_${name} OBJECT ${sources})
  target_link_libraries(pt2onnx_${name} PRIVATE pt2onnx_common ${arg_LIBS})
  set_property(GLOBAL APPEND PROPERTY PT2ONNX_LAYERS pt2onnx_${name})
endfunction()
