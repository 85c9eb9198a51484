// ops, schema, explain and onnx-ops: questions about operators.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "driver/lookup.h"
#include "frontend/frontend.h"

namespace pt2onnx::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Lookup {
  std::vector<std::string> names;
  std::string pattern;
  OpFilter filter;
  Options options;
  OutputOptions output;
};

template <typename Run>
void set_action(CLI::App& command, Action& action, std::shared_ptr<Lookup> self, const Run& run) {
  add_output_options(command, self->output);
  command.callback([self, &action, run] {
    action = [self, run] {
      set_up_logging(self->output);
      try {
        return run(*self);
      } catch (const UsageError& e) {  // a library that does not load, a schema that does not parse
        throw CommandLineError(e.what());
      }
    };
  });
}

Json since_json(const std::optional<int>& since) { return since ? Json(*since) : Json(nullptr); }

Status run_ops(const Lookup& self) {
  const OpList list = list_ops(self.filter, self.options);
  if (!list.is_exact && !self.filter.pattern.empty())
    spdlog::info("no operator matches `{}`{}", self.filter.pattern, list.ops.empty() ? "" : "; near it:");
  if (self.output.json) {
    Json ops = Json::array();
    for (const ListedOp& op : list.ops)
      ops.push_back({{"op", op.op}, {"status", to_string(op.status)}, {"since", since_json(op.since)}});
    print_json(
        {{"version", 1}, {"opset", self.options.opset}, {"exact", list.is_exact}, {"ops", std::move(ops)}});
    return Status::Ok;
  }
  for (const ListedOp& op : list.ops)
    fmt::print("{:<50} {:<12}{}\n", op.op, to_string(op.status),
               op.since ? fmt::format(" since opset {}", *op.since) : "");
  return Status::Ok;
}

Status run_schema(const Lookup& self) {
  const SchemaLookup found = lookup_schema(self.pattern, self.options);
  if (self.output.json) {
    print_json({{"version", 1}, {"op", found.op}, {"schemas", found.schemas}, {"near", found.near}});
  } else {
    for (const std::string& schema : found.schemas) fmt::print("{}\n", schema);
  }
  if (!found.schemas.empty()) return Status::Ok;
  spdlog::error("libtorch has no operator `{}`{}", found.op,
                found.near.empty() ? "" : fmt::format("; near: {}", fmt::join(found.near, ", ")));
  return Status::Usage;
}

Json json_of(const KernelContract& contract) {
  Json inputs = Json::array(), attributes = Json::array();
  for (const auto& input : contract.inputs)
    inputs.push_back({{"name", input.name}, {"optional", input.optional}, {"list", input.list}});
  for (const auto& attribute : contract.attributes)
    attributes.push_back(
        {{"name", attribute.name}, {"kind", attribute.kind}, {"optional", attribute.optional}});
  return {{"domain", contract.domain},
          {"name", contract.name},
          {"inputs", std::move(inputs)},
          {"attributes", std::move(attributes)},
          {"outputs", contract.outputs}};
}

Json json_of(const Explanation& e) {
  Json onnx = Json::array();
  for (const OnnxWord& word : e.onnx)
    onnx.push_back({{"domain", word.domain}, {"name", word.name}, {"since", word.since}});
  Json document{{"op", e.op},
                {"opset", e.opset},
                {"status", to_string(e.status)},
                {"case", e.which ? Json(static_cast<int>(*e.which)) : Json(nullptr)},
                {"since", since_json(e.since)},
                {"onnx", std::move(onnx)},
                {"reason", e.reason},
                {"advice", e.advice},
                {"schemas", e.schemas},
                {"near", e.near}};
  document["custom_node"] = e.custom_node ? json_of(*e.custom_node) : Json(nullptr);
  return document;
}

std::string contract_text(const KernelContract& contract) {
  std::string out = fmt::format("  custom node: {}\n", text_of(contract));
  out += "    the runtime needs a kernel (ONNX Runtime custom op, TensorRT plugin) that takes\n";
  std::size_t at = 0;
  for (const auto& input : contract.inputs)
    out += fmt::format("      input {}: {}{}\n", at++, input.name,
                       input.list       ? ", one input for each tensor of the list"
                       : input.optional ? ", may be absent (an empty name)"
                                        : "");
  for (const auto& attribute : contract.attributes)
    out += fmt::format("      attribute {}: {}{}\n", attribute.name,
                       attribute.is_bool ? "int, 0 or 1" : attribute.kind,
                       attribute.optional ? ", left out for None" : "");
  for (std::size_t i = 0; i < contract.outputs.size(); ++i)
    out += fmt::format("      output {}: {}\n", i, contract.outputs[i]);
  return out;
}

std::string text_of(const Explanation& e) {
  std::string out = fmt::format("{} at opset {}: {}\n", e.op, e.opset, to_string(e.status));
  if (e.which) out += fmt::format("  case {}\n", static_cast<int>(*e.which));
  out += fmt::format("  {}\n", e.reason);
  for (const OnnxWord& word : e.onnx)
    out += fmt::format("  ONNX: {} (since opset {})\n", word.name, word.since);
  for (const std::string& schema : e.schemas) out += fmt::format("  note: {}\n", schema);
  for (const std::string& advice : e.advice) out += fmt::format("  help: {}\n", advice);
  if (e.custom_node) out += contract_text(*e.custom_node);
  return out;
}

Status run_explain(const Lookup& self) {
  const OperatorGuide guide(self.options);
  Json ops = Json::array();
  for (const std::string& name : self.names) {
    const Explanation explanation = guide.explain(name);
    if (self.output.json) {
      ops.push_back(json_of(explanation));
    } else {
      fmt::print("{}", text_of(explanation));
    }
  }
  if (self.output.json) print_json({{"version", 1}, {"ops", std::move(ops)}});
  return Status::Ok;
}

std::string parameters_text(const std::vector<OpParameter>& parameters) {
  std::string text;
  for (const OpParameter& p : parameters)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", p.name, p.variadic ? "..." : "",
                        p.optional ? "?" : "");
  return text;
}

std::string attributes_text(const std::vector<OpAttribute>& attributes) {
  std::string text;
  for (const OpAttribute& a : attributes)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", a.name, a.required ? "" : "?");
  return text;
}

Status run_onnx_ops(const Lookup& self) {
  const auto ops = lookup_onnx(self.pattern);
  if (self.output.json) {
    Json list = Json::array();
    for (const OnnxOperator& op : ops) {
      Json entry{{"domain", op.domain},
                 {"name", op.name},
                 {"since", op.versions.front()},
                 {"versions", op.versions},
                 {"deprecated", op.deprecated}};
      if (const OpSignature* signature = onnx_signature(op)) {
        Json inputs = Json::array(), outputs = Json::array(), attributes = Json::array();
        for (const OpParameter& p : signature->inputs) inputs.push_back(p.name);
        for (const OpParameter& p : signature->outputs) outputs.push_back(p.name);
        for (const OpAttribute& a : signature->attributes) attributes.push_back(a.name);
        entry.update(Json{{"inputs", inputs}, {"outputs", outputs}, {"attributes", attributes}});
      }
      list.push_back(std::move(entry));
    }
    print_json({{"version", 1}, {"ops", std::move(list)}});
    return Status::Ok;
  }
  for (const OnnxOperator& op : ops) {
    fmt::print("{}{:<34} versions {}{}\n", op.domain.empty() ? "" : op.domain + "::", op.name,
               fmt::join(op.versions, ", "), op.deprecated ? "  (deprecated)" : "");
    const OpSignature* signature = ops.size() <= 3 ? onnx_signature(op) : nullptr;
    if (!signature) continue;
    fmt::print("  ({}) -> ({})\n  attributes: {}\n{}\n", parameters_text(signature->inputs),
               parameters_text(signature->outputs), attributes_text(signature->attributes), op.doc);
  }
  if (ops.empty()) spdlog::info("no operator of the onnx library matches `{}`", self.pattern);
  return Status::Ok;
}

}  // namespace

void add_ops(CLI::App& app, Action& action) {
  auto self = std::make_shared<Lookup>();
  CLI::App* command = app.add_subcommand("ops", "List torch operators and whether they can be exported");
  command->footer(
      "Examples:\n  pt2onnx ops 'aten::upsample*' --opset 13\n  pt2onnx ops --status missing --namespace "
      "aten");
  command
      ->add_option("pattern", self->filter.pattern,
                   "Part of a name; `*` stands for anything. Where nothing matches, names that are near")
      ->type_name("PATTERN");
  command->add_option("--namespace", self->filter.space, "Only this one; aten and torchvision unless told")
      ->type_name("NS");
  command
      ->add_option_function<std::string>(
          "--status",
          [filter = &self->filter](const std::string& word) {
            for (const auto status : {OpStatus::Mapped, OpStatus::LaterOpset, OpStatus::Missing})
              if (word == to_string(status)) filter->status = status;
          },
          "Only operators that are mapped, mapped from a later opset on, or missing")
      ->check(one_of({"mapped", "later-opset", "missing"}))
      ->type_name("mapped|later-opset|missing");
  command->add_flag("--all", self->filter.all,
                    "Private and backward operators too, in-place forms, and those on Python values");
  add_opset_option(*command, self->options);
  add_dictionary_options(*command, self->options);
  add_operator_options(*command, self->options);
  set_action(*command, action, self, run_ops);
}

void add_schema(CLI::App& app, Action& action) {
  auto self = std::make_shared<Lookup>();
  CLI::App* command = app.add_subcommand("schema", "Print the signatures of a torch operator");
  command->footer("Example:\n  pt2onnx schema aten::add");
  command->add_option("op", self->pattern, "Operator: add, aten::add, aten::add.Tensor")
      ->required()
      ->type_name("OP");
  add_operator_options(*command, self->options);
  set_action(*command, action, self, run_schema);
}

void add_explain(CLI::App& app, Action& action) {
  auto self = std::make_shared<Lookup>();
  CLI::App* command =
      app.add_subcommand("explain", "Say how an operator is translated, or why not and what to do");
  command->footer("Examples:\n  pt2onnx explain aten::asinh\n  pt2onnx explain grid_sampler --opset 11");
  command->add_option("op", self->names, "Operators")->required()->type_name("OP...");
  add_opset_option(*command, self->options);
  add_dictionary_options(*command, self->options);
  command->add_option("--custom-domain", self->options.custom_domain, "Domain of custom nodes")
      ->capture_default_str()
      ->type_name("DOMAIN")
      ->group("Translation");
  add_operator_options(*command, self->options);
  set_action(*command, action, self, run_explain);
}

void add_onnx_ops(CLI::App& app, Action& action) {
  auto self = std::make_shared<Lookup>();
  CLI::App* command =
      app.add_subcommand("onnx-ops", "List ONNX operators with their versions; documents for a single one");
  command->footer("Examples:\n  pt2onnx onnx-ops GridSample\n  pt2onnx onnx-ops 'Reduce*'");
  command->add_option("pattern", self->pattern, "Part of a name; `*` stands for anything")
      ->type_name("PATTERN");
  set_action(*command, action, self, run_onnx_ops);
}

}  // namespace pt2onnx::cli
