// ops, schema, explain and onnx-ops: questions about operators.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "diagnosis/onnx_history.h"
#include "driver/lookup.h"
#include "frontend/frontend.h"

namespace pt2onnx::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Lookup {
  std::vector<std::string> names;
  std::string pattern;
  OpFilter filter;
  bool counts_only = false;
  OnnxFilter onnx;
  bool history = false;
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

std::string counts_text(const OpList& list) {
  std::size_t total = 0;
  for (const auto& [status, count] : list.counts) total += count;
  std::string out;
  for (const auto& [status, count] : list.counts)
    out += fmt::format(
        "{:<12} {:>5}  {:>5.1f} %\n", to_string(status), count,
        100.0 * static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(total, 1)));
  return out + fmt::format("{:<12} {:>5}\n", "total", total);
}

Status run_ops(const Lookup& self) {
  const OpList list = list_ops(self.filter, self.options);
  if (!list.is_exact)
    spdlog::info("no operator{} matches `{}`{}",
                 self.filter.space.empty() ? "" : fmt::format(" of the namespace `{}`", self.filter.space),
                 self.filter.pattern.empty() ? "*" : self.filter.pattern,
                 list.ops.empty() ? "" : "; near it:");
  if (self.output.json) {
    Json ops = Json::array();
    for (const ListedOp& op : list.ops)
      ops.push_back({{"op", op.op}, {"status", to_string(op.status)}, {"since", since_json(op.since)}});
    Json counts;
    for (const auto& [status, count] : list.counts) counts[std::string(to_string(status))] = count;
    print_json({{"version", 1},
                {"opset", self.options.opset},
                {"exact", list.is_exact},
                {"counts", std::move(counts)},
                {"ops", std::move(ops)}});
    return Status::Ok;
  }
  if (self.counts_only) {
    fmt::print("{}", counts_text(list));
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
    attributes.push_back({{"name", attribute.name},
                          {"kind", attribute.kind},
                          {"optional", attribute.optional},
                          {"plugin_field", attribute.plugin_field()}});
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
                {"near", e.near},
                {"steps", e.steps}};
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
  std::string fields;
  for (const auto& attribute : contract.attributes)
    fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", attribute.name, attribute.plugin_field());
  out += fmt::format("    as a TensorRT plugin: name \"{}\", version \"1\", namespace \"\"; fields: {}\n",
                     contract.name, fields.empty() ? "none" : fields);
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
      print_text(text_of(explanation));
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

std::string attribute_text(const OpAttribute& a) {
  return fmt::format("{}: {}{}", a.name, to_string(a.kind),
                     a.required               ? ", required"
                     : a.default_text.empty() ? ""
                                              : " = " + a.default_text);
}

std::string signature_text(const OnnxLookup& found) {
  const OpSignature& s = *found.signature;
  std::string out = fmt::format("  ({}) -> ({})\n", parameters_text(s.inputs), parameters_text(s.outputs));
  for (const auto* parameters : {&s.inputs, &s.outputs})
    for (const OpParameter& p : *parameters)
      if (!p.dtypes.empty())
        out += fmt::format("  {}{}: {}\n", p.name,
                           p.type_variable.empty() ? "" : " (" + p.type_variable + ")", text_of(p.dtypes));
  for (const OpAttribute& a : s.attributes) out += fmt::format("  attribute {}\n", attribute_text(a));
  return out;
}

Json parameters_json(const std::vector<OpParameter>& parameters) {
  Json list = Json::array();
  for (const OpParameter& p : parameters) {
    Json dtypes = Json::array();
    for (const DType dtype : p.dtypes) dtypes.push_back(to_string(dtype));
    list.push_back({{"name", p.name},
                    {"types", std::move(dtypes)},
                    {"type_variable", p.type_variable},
                    {"optional", p.optional},
                    {"variadic", p.variadic}});
  }
  return list;
}

Json names_json(const auto& items) {
  Json names = Json::array();
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

Json json_of(const OnnxLookup& found) {
  Json entry{{"domain", found.op.domain},
             {"name", found.op.name},
             {"since", found.op.versions.front()},
             {"versions", found.op.versions},
             {"deprecated", found.op.deprecated}};
  if (const OpSignature* s = found.signature) {
    Json attributes = Json::array();
    for (const OpAttribute& a : s->attributes)
      attributes.push_back({{"name", a.name},
                            {"kind", to_string(a.kind)},
                            {"required", a.required},
                            {"default", a.default_text.empty() ? Json(nullptr) : Json(a.default_text)}});
    entry.update(Json{{"inputs", names_json(s->inputs)},
                      {"outputs", names_json(s->outputs)},
                      {"attributes", names_json(s->attributes)},
                      {"signature",
                       {{"version", s->since},
                        {"inputs", parameters_json(s->inputs)},
                        {"outputs", parameters_json(s->outputs)},
                        {"attributes", std::move(attributes)}}}});
  }
  Json history = Json::array();
  for (const OnnxForm& form : found.history)
    history.push_back({{"version", form.version}, {"changes", form.changes}});
  entry["history"] = std::move(history);
  return entry;
}

Status run_onnx_ops(const Lookup& self) {
  const auto all = lookup_onnx(self.onnx);
  if (self.output.json) {
    Json list = Json::array();
    for (const OnnxLookup& found : all) list.push_back(json_of(found));
    print_json({{"version", 1}, {"ops", std::move(list)}});
    return Status::Ok;
  }
  constexpr std::size_t kInDetail = 3;
  for (const OnnxLookup& found : all) {
    const OnnxOperator& op = found.op;
    fmt::print("{}{:<34} versions {}{}\n", op.domain.empty() ? "" : op.domain + "::", op.name,
               fmt::join(op.versions, ", "), op.deprecated ? "  (deprecated)" : "");
    if (self.history)
      for (const OnnxForm& form : found.history)
        fmt::print("  {:>4}  {}\n", form.version,
                   form.changes.empty() ? "first version" : fmt::format("{}", fmt::join(form.changes, "; ")));
    if (all.size() > kInDetail || !found.signature) continue;
    fmt::print("{}{}\n", signature_text(found), self.history ? "" : op.doc);
  }
  if (all.empty())
    spdlog::info("no operator of the onnx library{}{} matches `{}`",
                 self.onnx.domain ? fmt::format(", domain `{}`,", *self.onnx.domain) : "",
                 self.onnx.opset ? fmt::format(" at version {}", *self.onnx.opset) : "",
                 self.onnx.pattern.empty() ? "*" : self.onnx.pattern);
  return Status::Ok;
}

std::string statuses() {
  std::vector<std::string_view> words;
  for (const OpStatus status : kOpStatuses) words.push_back(to_string(status));
  return fmt::format("{}", fmt::join(words, "|"));
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
      ->add_option_function<std::vector<std::string>>(
          "--status",
          [self](const std::vector<std::string>& words) {
            self->counts_only = words.front().empty();
            for (const OpStatus status : kOpStatuses)
              if (words.front() == to_string(status)) self->filter.status = status;
            if (!self->counts_only && !self->filter.status)
              throw CommandLineError(fmt::format("--status: `{}` is none of {}", words.front(), statuses()));
          },
          "Only operators of that status; without a word, how many there are of each")
      ->expected(0, 1)
      ->allow_extra_args(false)  // what follows a status is the pattern
      ->type_name(statuses());
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
      app.add_subcommand("onnx-ops", "List ONNX operators with their versions; signature and text for a few");
  command->footer(
      "Examples:\n  pt2onnx onnx-ops GridSample\n  pt2onnx onnx-ops Squeeze --history\n"
      "  pt2onnx onnx-ops 'Reduce*' --opset 13");
  command->add_option("pattern", self->onnx.pattern, "Part of a name; `*` stands for anything")
      ->type_name("PATTERN");
  command->add_option("--domain", self->onnx.domain, "Only this one: ai.onnx, ai.onnx.ml, ...")
      ->type_name("DOMAIN");
  command->add_option("--opset", self->onnx.opset, "The form at that version of the domain")->type_name("N");
  command->add_flag("--history", self->history, "What changed from version to version");
  set_action(*command, action, self, run_onnx_ops);
}

}  // namespace pt2onnx::cli
