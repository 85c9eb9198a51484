#include "registry/runtime_types.h"

#include <algorithm>
#include <array>

namespace pt2onnx {
namespace {

// Operators that only move elements: their kernels take every type.
constexpr std::array<std::string_view, 44> kMoves{
    "Cast",        "CastLike",     "Col2Im",        "Compress",       "Concat",          "ConcatFromSequence", "Constant",
    "ConstantOfShape", "DepthToSpace", "Expand",    "Flatten",        "Gather",          "GatherElements",     "GatherND",
    "Identity",    "If",           "Loop",          "Optional",       "OptionalGetElement", "OptionalHasElement", "Pad",
    "Reshape",     "ReverseSequence", "Scan",       "ScatterElements", "ScatterND",      "SequenceAt",         "SequenceConstruct",
    "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength", "Shape",       "Size",               "Slice",
    "SpaceToDepth", "Split",       "SplitToSequence", "Squeeze",      "Tile",            "Transpose",          "Unsqueeze",
    "Where",       "EyeLike"};

}  // namespace

bool runtime_takes(std::string_view op, int, std::string_view, DType dtype) {
  // ONNX Runtime's CPU provider computes next to nothing in bfloat16, and unlike for float16 it does not insert the
  // casts by itself.
  if (dtype == DType::BFloat16) return std::find(kMoves.begin(), kMoves.end(), op) != kMoves.end();
  return true;
}

}  // namespace pt2onnx
