// From a TorchScript file to a program.
#include <gmock/gmock.h>

#include <algorithm>

#include "frontend/frontend.h"
#include "support/torchscript.h"
#include "support/zip_archive.h"

namespace pt2onnx::testing {
namespace {

using program::Literal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kIdentity = "def forward(self, x):\n    return x\n";

TorchScriptSnippet snippet_of(std::string source) {
  TorchScriptSnippet snippet;
  snippet.source = std::move(source);
  return snippet;
}

Tensor floats(std::vector<double> values, std::vector<std::int64_t> dims) {
  return Tensor::of_doubles(values, std::move(dims), DType::Float32);
}

const Literal& attribute(const program::Object& object, const std::string& name) {
  for (const auto& [key, value] : object.attributes)
    if (key == name) return value;
  throw std::out_of_range(name);
}

const Tensor& tensor(const program::Object& object, const std::string& name) {
  return std::get<Tensor>(attribute(object, name).data);
}

/// Every node of a block and the blocks in it, in order.
void collect(const program::Block& block, std::vector<const program::Node*>& out) {
  for (const auto& node : block.nodes) {
    out.push_back(&node);
    for (const auto& inner : node.blocks) collect(inner, out);
  }
}

std::vector<const program::Node*> nodes_of(const program::Function& function) {
  std::vector<const program::Node*> out;
  collect(function.body, out);
  return out;
}

const program::Node& node_of(const program::Function& function, const std::string& op) {
  for (const auto* node : nodes_of(function))
    if (node->op->name == op) return *node;
  throw std::out_of_range(op);
}

/// The file with a piece of its code replaced: what a newer torch, or one with other libraries, would have written.
std::string with_code(const std::string& path, const std::string& from, const std::string& to) {
  ZipContents contents = read_zip(path);
  bool found = false;
  for (auto& [name, content] : contents) {
    const auto at = name.ends_with(".py") ? content.find(from) : std::string::npos;
    if (at == std::string::npos) continue;
    content.replace(at, from.size(), to);
    found = true;
  }
  EXPECT_TRUE(found) << from;
  return zip_bytes(contents);
}

TEST(Program, ModulesBecomeObjectsWithPathsAndNames) {
  TorchScriptSnippet inner = snippet_of("def forward(self, x):\n    return x + self.bias\n");
  inner.parameters.emplace_back("bias", floats({1, 2}, {2}));
  TorchScriptSnippet outer =
      snippet_of("def forward(self, x):\n    return self.head.forward(x) * self.scale\n");
  outer.buffers.emplace_back("scale", floats({3}, {1}));
  outer.modules.emplace_back("head", inner);
  const TemporaryModule file(outer);
  const auto module = load_torchscript(file.path(), {});
  const auto& program = module->program();

  EXPECT_TRUE(program.root->is_module);
  EXPECT_EQ(program.root->path, "");
  EXPECT_EQ(tensor(*program.root, "scale").name, "scale");
  const auto& head = std::get<program::ObjectRef>(attribute(*program.root, "head").data);
  EXPECT_EQ(head->path, "head");
  EXPECT_EQ(tensor(*head, "bias").name, "head.bias");
  EXPECT_THAT(tensor(*head, "bias").to_doubles(), ElementsAre(1, 2));

  // The method that is called is there, under the name that the class gives it.
  const auto& call = node_of(*program.entry, "prim::CallMethod");
  EXPECT_EQ(call.name, "forward");
  const auto& info = program.classes.at(head->type);
  ASSERT_TRUE(program.functions.contains(info.methods.at("forward")));
  EXPECT_EQ(program.functions.at(info.methods.at("forward"))->parameters.size(), 2U);
}

TEST(Program, TheSameTensorTwiceIsOneTensor) {
  TorchScriptSnippet snippet = snippet_of(kIdentity);
  snippet.parameters.emplace_back("embedding", floats({1, 2, 3}, {3}));
  snippet.ties.emplace_back("output", "embedding");
  const TemporaryModule file(snippet);
  const auto module = load_torchscript(file.path(), {});
  const Tensor& first = tensor(*module->program().root, "embedding");
  const Tensor& second = tensor(*module->program().root, "output");
  EXPECT_EQ(first.bytes.data(), second.bytes.data());
  EXPECT_EQ(first.owner, second.owner);
  EXPECT_EQ(second.name, "embedding");
}

TEST(Program, ListsKeepTheirElementType) {
  TorchScriptSnippet snippet = snippet_of(kIdentity);
  auto type = std::make_shared<program::Type>();
  type->kind = program::TypeKind::Int;
  snippet.attributes.emplace_back("sizes",
                                  Literal{std::make_shared<program::ListLiteral>(
                                      program::ListLiteral{type, {{std::int64_t{4}}, {std::int64_t{5}}}})});
  const TemporaryModule file(snippet);
  const auto module = load_torchscript(file.path(), {});
  const auto& list =
      std::get<std::shared_ptr<program::ListLiteral>>(attribute(*module->program().root, "sizes").data);
  EXPECT_EQ(list->element->kind, program::TypeKind::Int);
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_EQ(std::get<std::int64_t>(list->items[1].data), 5);
}

TEST(Program, EmptyTensorsAndOddDtypes) {
  TorchScriptSnippet snippet = snippet_of(kIdentity);
  snippet.buffers.emplace_back("none", floats({}, {0, 4}));
  snippet.buffers.emplace_back("half", Tensor::scalar(0.5, DType::Float16));
  snippet.buffers.emplace_back("brain", Tensor::scalar(2.0, DType::BFloat16));
  const TemporaryModule file(snippet);
  const auto module = load_torchscript(file.path(), {});
  const auto& root = *module->program().root;
  EXPECT_THAT(tensor(root, "none").dims, ElementsAre(0, 4));
  EXPECT_THAT(tensor(root, "none").bytes, IsEmpty());
  EXPECT_EQ(tensor(root, "half").dtype, DType::Float16);
  EXPECT_THAT(tensor(root, "half").to_doubles(), ElementsAre(0.5));
  EXPECT_EQ(tensor(root, "brain").dtype, DType::BFloat16);
}

TEST(Program, NodesCarrySchemaNamesTypesAndPlaces) {
  const TemporaryModule file(
      snippet_of("def forward(self, x: Tensor, k: int=2):\n"
                 "    total = torch.add(x, x, alpha=k)\n"
                 "    return total\n"));
  const auto module = load_torchscript(file.path(), {});
  const program::Function& forward = *module->program().entry;
  ASSERT_EQ(forward.parameters.size(), 3U);
  EXPECT_EQ(forward.parameters[1].name, "x");
  EXPECT_EQ(forward.parameters[2].type->kind, program::TypeKind::Int);
  ASSERT_TRUE(forward.parameters[2].default_value);
  EXPECT_EQ(std::get<std::int64_t>(forward.parameters[2].default_value->data), 2);

  const program::Node& add = node_of(forward, "aten::add");
  ASSERT_NE(add.op->schema, nullptr);
  EXPECT_EQ(add.op->schema->overload, "Tensor");
  EXPECT_EQ(add.op->schema->arguments[2].name, "alpha");
  EXPECT_TRUE(add.op->schema->arguments[2].keyword_only);
  EXPECT_EQ(add.op->schema, module->folder().schema("aten::add", "Tensor"));
  EXPECT_EQ(add.output_types[0]->kind, program::TypeKind::Tensor);
  ASSERT_NE(add.location, nullptr);
  EXPECT_THAT(add.location->text, HasSubstr("torch.add(x, x, alpha=k)"));
  EXPECT_GT(add.location->line, 0);
  EXPECT_THAT(forward.value_names[static_cast<std::size_t>(forward.body.parameters[1])], HasSubstr("x"));
}

TEST(Program, BlocksOfIfAndLoop) {
  const TemporaryModule file(
      snippet_of("def forward(self, x: Tensor, n: int):\n"
                 "    for i in range(n):\n"
                 "        if i > 2:\n"
                 "            x = x + i\n"
                 "    return x\n"));
  const auto module = load_torchscript(file.path(), {});
  const program::Node& loop = node_of(*module->program().entry, "prim::Loop");
  ASSERT_EQ(loop.blocks.size(), 1U);
  EXPECT_EQ(loop.blocks[0].parameters.size(), 2U);  // trip, x
  EXPECT_EQ(loop.blocks[0].results.size(), 2U);     // continue, x
  const program::Node& branch = node_of(*module->program().entry, "prim::If");
  ASSERT_EQ(branch.blocks.size(), 2U);
  EXPECT_EQ(branch.blocks[0].results.size(), 1U);
}

TEST(Program, ContainersAndConstants) {
  const TemporaryModule file(
      snippet_of("def forward(self, x: Tensor):\n"
                 "    names = {'a': 1.5}\n"
                 "    if isinstance(x, Tensor):\n"
                 "        return x.to(5), names, (1, 'two', None, True)\n"
                 "    return x, names, (1, 'two', None, True)\n"));
  const auto module = load_torchscript(file.path(), {});
  std::vector<std::string> seen;
  for (const auto* node : nodes_of(*module->program().entry)) {
    seen.push_back(node->op->name);
    if (node->op->name == "prim::TupleConstruct") {
      EXPECT_EQ(node->output_types[0]->kind, program::TypeKind::Tuple);
    }
  }
  EXPECT_THAT(seen, ::testing::IsSupersetOf(
                        {"prim::DictConstruct", "prim::TupleConstruct", "aten::to", "prim::Constant"}));
}

TEST(Program, TrainingModeIsLeftWithAWarning) {
  TorchScriptSnippet snippet =
      snippet_of("def forward(self, x: Tensor):\n    return torch.dropout(x, 0.5, self.training)\n");
  snippet.attributes.emplace_back("training", Literal{true});
  snippet.training = true;
  const TemporaryModule file(snippet);
  const auto evaluated = load_torchscript(file.path(), {});
  EXPECT_FALSE(std::get<bool>(attribute(*evaluated->program().root, "training").data));
  EXPECT_THAT(evaluated->warnings(), ElementsAre(HasSubstr("saved in training mode")));

  LoadOptions keep;
  keep.keep_training = true;
  const auto kept = load_torchscript(file.path(), keep);
  EXPECT_TRUE(std::get<bool>(attribute(*kept->program().root, "training").data));
  EXPECT_THAT(kept->warnings(), ElementsAre(HasSubstr("kept so")));
}

TEST(Program, MethodsByName) {
  const TemporaryModule file(snippet_of(kIdentity + "\ndef encode(self, x):\n    return x + 1\n"));
  LoadOptions options;
  options.method = "encode";
  const auto module = load_torchscript(file.path(), options);
  EXPECT_THAT(module->program().entry->name, HasSubstr("encode"));
  EXPECT_THAT(module->methods(), ElementsAre("encode", "forward"));
  options.method = "decode";
  try {
    load_torchscript(file.path(), options);
    FAIL() << "no error";
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(), "the module has no method `decode`; it has `encode`, `forward`");
  }
}

TEST(Program, UnknownOperatorsGetStandIns) {
  const TemporaryModule original(
      snippet_of("def forward(self, x: Tensor):\n"
                 "    a, b = torch.max(x, 0)\n"
                 "    return torch.relu(a) + torch.sigmoid(b)\n"));
  std::string bytes = with_code(original.path(), "torch.relu(", "ops.test_unknown.one(");
  const TemporaryFile once("once.pt", bytes);
  bytes = with_code(once.path(), "torch.max(x, 0)", "ops.test_unknown.two(x)");
  const TemporaryFile file("unknown.pt", bytes);
  const auto module = load_torchscript(file.path(), {});
  EXPECT_THAT(module->unknown_operators(), ElementsAre("test_unknown::one", "test_unknown::two"));
  const program::Node& node = node_of(*module->program().entry, "test_unknown::two");
  EXPECT_EQ(node.outputs.size(), 2U);
  ASSERT_NE(node.op->schema, nullptr);
  EXPECT_TRUE(node.op->schema->is_variadic);
  const std::vector<Literal> inputs{{floats({1}, {1})}};
  EXPECT_THAT([&] { module->run(inputs); }, ::testing::ThrowsMessage<std::runtime_error>(
                                                HasSubstr("`test_unknown::two` has no kernel here")));
}

TEST(Program, UnknownAtenOperatorsAreFoundWhileLoading) {
  const TemporaryModule original(snippet_of("def forward(self, x: Tensor):\n    return torch.relu(x)\n"));
  const TemporaryFile file("newer.pt", with_code(original.path(), "torch.relu(", "torch.relu_of_tomorrow("));
  const auto module = load_torchscript(file.path(), {});
  EXPECT_THAT(module->unknown_operators(), ElementsAre("aten::relu_of_tomorrow"));
}

TEST(Program, SchemasOfTheUser) {
  const TemporaryModule original(
      snippet_of("def forward(self, x: Tensor):\n    return torch.leaky_relu(x, 0.5)\n"));
  const TemporaryFile file("schema.pt",
                           with_code(original.path(), "torch.leaky_relu(", "ops.test_schema.act("));
  LoadOptions options;
  options.op_schemas = {"test_schema::act(Tensor x, float slope=0.1) -> Tensor",
                        "aten::relu(Tensor x) -> Tensor"};
  const auto module = load_torchscript(file.path(), options);
  EXPECT_EQ(node_of(*module->program().entry, "test_schema::act").op->schema->arguments[1].name, "slope");
  EXPECT_THAT(module->unknown_operators(), ElementsAre("test_schema::act"));
  EXPECT_THAT(module->warnings(), ElementsAre(HasSubstr("--op-schema for `aten::relu` is ignored")));

  for (const char* wrong : {"not a schema", "no_namespace(Tensor x) -> Tensor"}) {
    options.op_schemas = {wrong};
    EXPECT_THROW(load_torchscript(file.path(), options), UsageError) << wrong;
  }
}

TEST(Program, LibrariesThatDoNotLoadAreTheUsersError) {
  const TemporaryModule file(snippet_of(kIdentity));
  LoadOptions options;
  options.libraries = {"/no/such/library.so"};
  EXPECT_THAT([&] { load_torchscript(file.path(), options); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("`/no/such/library.so` does not load")));
}

TEST(Program, CustomClassesThatNobodyKnows) {
  const TemporaryModule original(snippet_of(kIdentity));
  const TemporaryFile file("custom.pt",
                           with_code(original.path(), "class Case(Module):",
                                     "class Case(Module):\n  box : __torch__.torch.classes.test_ns.Box"));
  EXPECT_THAT([&] { load_torchscript(file.path(), {}); },
              ::testing::ThrowsMessage<LoadError>(HasSubstr("custom class `torch.classes.test_ns.Box`")));
}

TEST(Program, ForkHoldsItsGraphAsABlock) {
  const TemporaryModule original(
      snippet_of("def forward(self, x: Tensor):\n    y = torch.relu(x)\n    return y\n"));
  const TemporaryFile file("fork.pt", with_code(original.path(), "    return torch.relu(x)",
                                                "    def later():\n"
                                                "      return torch.relu(x)\n"
                                                "    promise = fork(later)\n"
                                                "    return torch.wait(promise)"));
  const auto module = load_torchscript(file.path(), {});
  const program::Node& fork = node_of(*module->program().entry, "prim::fork");
  ASSERT_EQ(fork.blocks.size(), 1U);
  EXPECT_EQ(fork.blocks[0].parameters.size(), fork.inputs.size());
  EXPECT_EQ(fork.blocks[0].nodes.size(), 1U);
}

}  // namespace
}  // namespace pt2onnx::testing
