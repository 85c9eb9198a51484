#include "driver/bind_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/example_inputs.h"
#include "driver/reference.h"

namespace pt2onnx {
namespace {

using program::TypeKind;
using program::TypeRef;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TypeRef type(TypeKind kind, std::vector<TypeRef> elements = {}) {
  auto t = std::make_shared<program::Type>();
  t->kind = kind;
  t->elements = std::move(elements);
  return t;
}

TypeRef traced(std::vector<std::optional<std::int64_t>> dims, DType dtype = DType::Float32) {
  auto t = std::make_shared<program::Type>();
  t->kind = TypeKind::Tensor;
  t->dtype = dtype;
  t->dims = std::move(dims);
  return t;
}

const TypeRef kTensor = type(TypeKind::Tensor);

program::Parameter parameter(std::string name, TypeRef type, std::optional<program::Literal> otherwise = {},
                             std::optional<program::Literal> example = {}) {
  return {std::move(name), std::move(type), std::move(otherwise), std::move(example)};
}

/// A program of which only the parameters matter.
struct Signature {
  program::Program program;

  explicit Signature(std::vector<program::Parameter> parameters) {
    auto function = std::make_unique<program::Function>();
    function->name = "forward";
    function->parameters.push_back(parameter("self", type(TypeKind::Object)));
    for (auto& parameter : parameters) function->parameters.push_back(std::move(parameter));
    program.root = std::make_shared<program::Object>();
    program.entry = function.get();
    program.functions["forward"] = std::move(function);
  }

  BoundInputs bind(const std::vector<std::string>& specs, std::vector<std::string> dynamic = {},
                   InputData data = {}) const {
    Options options;
    for (const auto& spec : specs) options.inputs.push_back(parse_input_spec(spec));
    options.dynamic = std::move(dynamic);
    return bind_inputs(program, options, data);
  }

  std::string error(const std::vector<std::string>& specs, std::vector<std::string> dynamic = {},
                    InputData data = {}) const {
    try {
      bind(specs, std::move(dynamic), std::move(data));
    } catch (const BindingError& e) {
      return e.what();
    }
    return "accepted";
  }
};

std::vector<std::string> shapes(const BoundInputs& bound) {
  std::vector<std::string> result;
  for (const InputTensor& tensor : bound.tensors)
    result.push_back(tensor.input.name + " " + std::string(to_string(tensor.input.dtype)) +
                     to_string(tensor.input.shape));
  return result;
}

TEST(BindInputs, FromTheShapesOfTracing) {
  const Signature s({parameter("x", traced({2, 3})), parameter("y", traced({4}, DType::Int64))});
  EXPECT_THAT(shapes(s.bind({})), ElementsAre("x float32[2, 3]", "y int64[4]"));
  EXPECT_THAT(shapes(s.bind({"y:[N]"})), ElementsAre("x float32[2, 3]", "y int64[N]"));
  EXPECT_THAT(shapes(s.bind({"x:float16"})), ElementsAre("x float16[2, 3]", "y int64[4]"));
  EXPECT_EQ(s.bind({"y:[N]"}).example_sizes.at("N"), 4) << "the traced size is the example";
}

TEST(BindInputs, FromTheStructureOfTracing) {
  const auto example = [](std::vector<std::int64_t> dims) {
    Tensor tensor;
    tensor.dims = std::move(dims);
    return program::Literal{tensor};
  };
  auto list = std::make_shared<program::ListLiteral>();
  list->items = {example({2, 3}), example({4})};
  auto dict = std::make_shared<program::DictLiteral>();
  dict->items.emplace_back(program::Literal{std::string("key")}, example({5}));
  const Signature s(
      {parameter("xs", type(TypeKind::List, {kTensor}), {}, program::Literal{list}),
       parameter("d", type(TypeKind::Dict, {type(TypeKind::String), kTensor}), {}, program::Literal{dict})});
  EXPECT_THAT(shapes(s.bind({})), ElementsAre("xs_0 float32[2, 3]", "xs_1 float32[4]", "d_key float32[5]"));
  EXPECT_THAT(shapes(s.bind({"xs.0:[N,3]", "d.key:int64"})),
              ElementsAre("xs_0 float32[N, 3]", "xs_1 float32[4]", "d_key int64[5]"));
}

TEST(BindInputs, SpecsByPositionAndByName) {
  const Signature s({parameter("x", kTensor), parameter("k", type(TypeKind::Int)), parameter("y", kTensor)});
  const auto bound = s.bind({"[1]", "int=3", "[2]"});
  EXPECT_THAT(shapes(bound), ElementsAre("x float32[1]", "y float32[2]"));
  EXPECT_EQ(std::get<std::int64_t>(std::get<program::Literal>(bound.arguments[1].data).data), 3);
  EXPECT_THAT(shapes(s.bind({"y:[2]", "k:int=3", "[1]"})), ElementsAre("x float32[1]", "y float32[2]"));
  EXPECT_THAT(s.error({"[1]", "int=3", "[2]", "[3]"}), HasSubstr("1 more than"));
}

TEST(BindInputs, DefaultsAndNone) {
  const TypeRef optional = type(TypeKind::Optional, {kTensor});
  const Signature s({parameter("x", kTensor), parameter("mask", optional, program::Literal{}),
                     parameter("scale", type(TypeKind::Float), program::Literal{2.0})});
  const auto bound = s.bind({"[1]"});
  EXPECT_TRUE(std::get<program::Literal>(bound.arguments[1].data).is_none());
  EXPECT_EQ(std::get<double>(std::get<program::Literal>(bound.arguments[2].data).data), 2.0);
  EXPECT_THAT(shapes(s.bind({"[1]", "mask:bool[1]", "scale:int=3"})),
              ElementsAre("x float32[1]", "mask bool[1]"));
  EXPECT_THAT(s.error({"[1]", "scale:bool=true"}), HasSubstr("write --input scale:float=1.0"));
}

TEST(BindInputs, ListsTuplesDicts) {
  const TypeRef list = type(TypeKind::List, {kTensor});
  const TypeRef tuple = type(TypeKind::Tuple, {kTensor, list});
  const TypeRef dict = type(TypeKind::Dict, {type(TypeKind::String), kTensor});
  const Signature s({parameter("images", list), parameter("state", tuple), parameter("extra", dict)});
  const auto bound =
      s.bind({"images.0:[1]", "images.1:[2]", "state.0:[3]", "state.1.0:[4]", "extra.key:[5]"});
  EXPECT_THAT(shapes(bound), ElementsAre("images_0 float32[1]", "images_1 float32[2]", "state_0 float32[3]",
                                         "state_1_0 float32[4]", "extra_key float32[5]"));
  // Unnamed ones fill a list up to what later arguments need.
  const Signature front({parameter("images", list), parameter("last", kTensor)});
  EXPECT_THAT(shapes(front.bind({"[1]", "[2]", "[3]"})),
              ElementsAre("images_0 float32[1]", "images_1 float32[2]", "last float32[3]"));
}

TEST(BindInputs, ExampleValues) {
  const Signature s({parameter("x", kTensor), parameter("k", type(TypeKind::Int))});
  const Tensor x = Tensor::of_doubles(std::vector<double>{1, 2}, {2}, DType::Float64);
  const InputData data{{"in_0", {x}}, {"in_1", {Tensor::scalar(std::int64_t{7}, DType::Int64)}}};
  const auto bound = s.bind({}, {"x:0=n"}, data);
  EXPECT_THAT(shapes(bound), ElementsAre("x float64[n]", "k int64[]"));
  const auto examples = example_tensors(bound, bound.example_sizes, IntegerRange::AllZeros);
  EXPECT_TRUE(identical(examples.at("x"), x));
  EXPECT_EQ(examples.at("k").to_ints(), (std::vector<std::int64_t>{7}));
  // The method itself takes a number.
  EXPECT_EQ(std::get<std::int64_t>(argument_values(bound, examples)[1].data), 7);
  EXPECT_THAT(s.error({"x:[3]"}, {}, data), HasSubstr("dim 0 was given as 3, the example value has 2"));
  EXPECT_THAT(s.error({"x:float32[2]"}, {}, data),
              HasSubstr("float32 was asked for, the example value is float64"));
  EXPECT_THAT(s.error({}, {}, {{"zzz", {x}}}), HasSubstr("--input-data: the method has no argument `zzz`"));
}

TEST(BindInputs, ANumberBehindAnAbsentOptional) {
  const TypeRef optional = type(TypeKind::Optional, {kTensor});
  const Signature s({parameter("x", kTensor), parameter("mask", optional, program::Literal{}),
                     parameter("gain", type(TypeKind::Float), program::Literal{1.0})});
  const Tensor x = Tensor::of_doubles(std::vector<double>{1, 2}, {2}, DType::Float32);
  const Tensor gain = Tensor::of_doubles(std::vector<double>{1.5}, {}, DType::Float64);
  // A value that is given is an input of the graph, even if the argument has a default.
  EXPECT_THAT(shapes(s.bind({}, {}, {{"in_0", {x}}, {"in_1", {gain}}})),
              ElementsAre("x float32[2]", "gain float64[]"));
  EXPECT_THAT(shapes(s.bind({}, {}, {{"in_0", {x}}, {"in_1", {x}}, {"in_2", {gain}}})),
              ElementsAre("x float32[2]", "mask float32[2]", "gain float64[]"));
  EXPECT_THAT(shapes(s.bind({}, {}, {{"in_0", {x}}})), ElementsAre("x float32[2]"));
}

TEST(BindInputs, DynamicDimsAgreeOrAreRefused) {
  const Signature s({parameter("x", traced({2, 3})), parameter("y", traced({2, 4}))});
  EXPECT_THAT(shapes(s.bind({}, {"batch"})), ElementsAre("x float32[batch, 3]", "y float32[batch, 4]"));
  EXPECT_THAT(shapes(s.bind({}, {"x:-1=w", "batch"})),
              ElementsAre("x float32[batch, w]", "y float32[batch, 4]"));
  EXPECT_THAT(s.error({}, {"x:1=n", "y:1=n"}),
              HasSubstr("the dim `n` has two sizes: dim 1 of `x` is 3, dim 1 of `y` is 4"));
  EXPECT_THAT(s.error({}, {"x:0=a b"}), HasSubstr("no name for a dim"));
}

TEST(BindInputs, EverythingThatIsMissingInOneMessage) {
  const Signature s({parameter("x", kTensor), parameter("k", type(TypeKind::Int)),
                     parameter("o", type(TypeKind::Optional, {kTensor}))});
  const std::string error = s.error({});
  EXPECT_THAT(error, HasSubstr("--input 'x:float32[1,3,224,224]'"));
  EXPECT_THAT(error, Not(HasSubstr("k:int")));  // a number can be an input of the graph
  EXPECT_THAT(error, HasSubstr("or: --input o:none"));
}

TEST(BindInputs, ArgumentsAsTheMethodTakesThem) {
  const TypeRef list = type(TypeKind::List, {kTensor});
  const Signature s(
      {parameter("xs", list), parameter("k", type(TypeKind::Int), program::Literal{std::int64_t{3}})});
  const auto bound = s.bind({"xs.0:[1]", "xs.1:[2]"});
  const auto values = argument_values(bound, example_tensors(bound, {}, IntegerRange::AllZeros));
  ASSERT_EQ(values.size(), 2u);
  const auto& items = std::get<std::shared_ptr<program::ListLiteral>>(values[0].data)->items;
  ASSERT_EQ(items.size(), 2u);
  EXPECT_THAT(std::get<Tensor>(items[1].data).dims, ElementsAre(2));
  EXPECT_EQ(std::get<std::int64_t>(values[1].data), 3);
}

TEST(OtherSizes, EqualDimsStayEqual) {
  const Signature s({parameter("x", kTensor), parameter("y", kTensor)});
  const auto bound = s.bind({"[a,c]", "[b,3]"});
  const SymbolSizes sizes{{"a", 2}, {"b", 2}, {"c", 8}};
  EXPECT_THAT(
      other_sizes(bound, sizes),
      ElementsAre(SymbolSizes{{"a", 3}, {"b", 3}, {"c", 9}}, SymbolSizes{{"a", 4}, {"b", 4}, {"c", 16}},
                  SymbolSizes{{"a", 3}, {"b", 3}, {"c", 8}}, SymbolSizes{{"a", 4}, {"b", 4}, {"c", 8}},
                  SymbolSizes{{"a", 2}, {"b", 2}, {"c", 9}}, SymbolSizes{{"a", 2}, {"b", 2}, {"c", 16}},
                  SymbolSizes{{"a", 4}, {"b", 2}, {"c", 8}}, SymbolSizes{{"a", 2}, {"b", 4}, {"c", 8}}));
  EXPECT_TRUE(other_sizes(s.bind({"[1]", "[1]"}), {}).empty());
}

TEST(FlattenOutputs, DepthFirstWithoutNoneAndStrings) {
  auto tuple = std::make_shared<program::TupleLiteral>();
  const Tensor tensor = Tensor::scalar(1.5, DType::Float32);
  auto dict = std::make_shared<program::DictLiteral>();
  dict->items.emplace_back(program::Literal{std::string("b")}, program::Literal{tensor});
  tuple->items = {{std::int64_t{3}}, {std::string("text")}, {}, {true}, {dict}, {0.5}};
  const auto flat = flatten_outputs({tuple});
  ASSERT_EQ(flat.size(), 4u);
  EXPECT_EQ(flat[0].dtype, DType::Int64);
  EXPECT_EQ(flat[1].dtype, DType::Bool);
  EXPECT_TRUE(identical(flat[2], tensor));
  EXPECT_EQ(flat[3].dtype, DType::Float64);
}

}  // namespace
}  // namespace pt2onnx
