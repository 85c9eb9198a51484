#include "driver/bind_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <set>
#include <string_view>

#include "diagnosis/near_names.h"
#include "driver/dynamic_dims.h"
#include "driver/infer_inputs.h"

namespace pt2onnx {
namespace {

using program::Literal;
using program::TypeKind;
using program::TypeRef;

bool is_optional(const TypeRef& type) { return type && type->kind == TypeKind::Optional; }

TypeRef unwrapped(const TypeRef& type) {
  return is_optional(type) && !type->elements.empty() ? unwrapped(type->elements.front()) : type;
}

TypeKind kind_of(const TypeRef& type) { return type ? type->kind : TypeKind::Any; }

bool is_number_kind(TypeKind kind) {
  return kind == TypeKind::Int || kind == TypeKind::Float || kind == TypeKind::Bool ||
         kind == TypeKind::Number;
}

/// How many tensors a value of that type has for sure: lists and dicts count none, optional ones count none.
std::size_t sure_tensors(const TypeRef& type) {
  if (kind_of(type) == TypeKind::Tensor) return 1;
  if (kind_of(type) != TypeKind::Tuple) return 0;
  std::size_t count = 0;
  for (const TypeRef& element : type->elements) count += sure_tensors(element);
  return count;
}

std::string type_text(const TypeRef& type) { return type && !type->text.empty() ? type->text : "a value"; }

std::string identifier(std::string_view path) {
  std::string name;
  for (const char c : path) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name.insert(0, "input_");
  return name;
}

std::string sizes_text(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ",")); }

/// "in_3" and numpy's "arr_3" count positions.
bool is_positional(std::string_view name) {
  for (const std::string_view prefix : {"in_", "arr_"}) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    const std::string_view digits = name.substr(prefix.size());
    return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  }
  return false;
}

/// A size for a dynamic dim of which nothing is known: small, but not so small that convolutions run out of pixels.
std::int64_t chosen_size(std::size_t axis, std::size_t rank, DType dtype, std::size_t attempt) {
  if (axis == 0) return 2;
  constexpr std::int64_t kImage[] = {64, 224, 512};
  constexpr std::int64_t kSequence[] = {8, 64, 512};
  const bool spatial = is_floating(dtype) && rank >= 3 && axis >= 2;
  const std::size_t step = attempt < 2 ? attempt : 2;
  return spatial ? kImage[step] : kSequence[step];
}

/// What is known of one argument, or of one element of it, besides the specs.
struct Known {
  const Literal* data = nullptr;       // from --input-data
  const Literal* otherwise = nullptr;  // the default
  const Literal* example = nullptr;    // what tracing stored: structure, dtypes and sizes
};

class Binder {
 public:
  Binder(const program::Program& program, const Options& options, const InputData& data, std::size_t attempt,
         const Assumptions& assumptions)
      : program_(program), options_(options), attempt_(attempt), assumptions_(assumptions) {
    for (const InputSpec& spec : options.inputs) {
      if (spec.name.empty()) {
        unnamed_.push_back(&spec);
      } else if (!named_.emplace(spec.name, &spec).second) {
        throw BindingError(fmt::format("--input {}: given twice", spec.name));
      }
    }
    const auto& parameters = program.entry->parameters;
    const auto is_parameter = [&](const std::string& name) {
      return std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
    };
    const bool by_position = std::any_of(data.begin(), data.end(), [&](const auto& item) {
      return is_positional(item.first) && !is_parameter(item.first);
    });
    for (const auto& [name, literal] : data) {
      if (is_positional(name) && !is_parameter(name)) {
        unnamed_data_.push_back(&literal);
      } else if (!by_position || is_parameter(name)) {
        named_data_[name] = &literal;
      }  // beside in_0, in_1 ... a file may hold more: expected outputs, other sets of inputs
    }
  }

  BoundInputs bind() {
    BoundInputs bound;
    const auto& parameters = program_.entry->parameters;
    for (parameter_ = 1; parameter_ < parameters.size(); ++parameter_) {
      const program::Parameter& parameter = parameters[parameter_];
      const std::string path =
          parameter.name.empty() ? fmt::format("input_{}", parameter_ - 1) : parameter.name;
      const auto given = [](const std::optional<Literal>& literal) { return literal ? &*literal : nullptr; };
      bound.arguments.push_back(
          bind(parameter.type, path, {nullptr, given(parameter.default_value), given(parameter.example)}));
    }
    refuse_unknown_names();
    refuse_missing();
    refuse_surplus();
    apply_dynamic(options_.dynamic, leaves_);
    agree_on_sizes(leaves_);
    rename_inputs();
    finish(bound);
    return bound;
  }

 private:
  InputBinding bind(const TypeRef& declared, const std::string& path, Known known) {
    const TypeRef type = unwrapped(declared);
    if (!known.data) known.data = take_data(path, type, is_optional(declared));
    if (known.data && known.data->is_none()) return {Literal{}};
    if (const InputSpec* spec = named_spec(path);
        spec && std::holds_alternative<InputSpec::None>(spec->value))
      return {Literal{}};

    const TypeKind kind = kind_of(type);
    if (kind == TypeKind::Tensor) return bind_tensor(type, path, known, is_optional(declared));
    if (kind == TypeKind::List || kind == TypeKind::Tuple || kind == TypeKind::Dict) {
      if (auto composite = bind_composite(type, path, known)) return std::move(*composite);
    } else if (auto number = number_input(kind, path, known)) {
      return std::move(*number);
    } else if (auto scalar = scalar_value(type, path, known.data)) {
      return {std::move(*scalar)};
    }
    if (known.otherwise) return {*known.otherwise};
    if (kind == TypeKind::None) return {Literal{}};
    miss(declared, path, is_optional(declared));
    return {Literal{}};
  }

  // ---- where values come from ------------------------------------------------------------------------------------

  const InputSpec* named_spec(const std::string& path) {
    const auto it = named_.find(path);
    if (it == named_.end()) return nullptr;
    used_specs_.insert(path);
    return it->second;
  }

  bool has_specs_below(const std::string& path) const {
    const std::string prefix = path + ".";
    const auto it = named_.lower_bound(prefix);
    return it != named_.end() && it->first.starts_with(prefix);
  }

  /// The next element name below `path` in each spec, in order: "0", "1" of `images.0`, `images.1`.
  std::vector<std::string> keys_below(const std::string& path) const {
    std::vector<std::string> keys;
    const std::string prefix = path + ".";
    for (const InputSpec& spec : options_.inputs) {
      if (!spec.name.starts_with(prefix)) continue;
      std::string key = spec.name.substr(prefix.size());
      key.resize(std::min(key.find('.'), key.size()));
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
    }
    return keys;
  }

  template <typename Wanted>
  const InputSpec* take_unnamed(const Wanted& wanted) {
    if (unnamed_.empty() || !wanted(*unnamed_.front())) return nullptr;
    const InputSpec* spec = unnamed_.front();
    unnamed_.pop_front();
    return spec;
  }

  /// Whether a value is a number (as numpy keeps Python's) for an argument behind this one, and this one was None.
  bool is_for_later_number(const Tensor& value) const {
    const auto& parameters = program_.entry->parameters;
    return value.dims.empty() &&
           std::any_of(parameters.begin() + static_cast<std::ptrdiff_t>(parameter_) + 1, parameters.end(),
                       [&](const program::Parameter& later) {
                         const TypeKind kind = kind_of(unwrapped(later.type));
                         return (kind == TypeKind::Float && value.dtype == DType::Float64) ||
                                (kind == TypeKind::Int && value.dtype == DType::Int64);
                       });
  }

  const Literal* take_data(const std::string& path, const TypeRef& type, bool optional) {
    if (const auto it = named_data_.find(path); it != named_data_.end()) {
      used_data_.insert(path);
      return it->second;
    }
    if (unnamed_data_.empty()) return nullptr;
    const auto* tensor = std::get_if<Tensor>(&unnamed_data_.front()->data);
    const TypeKind kind = kind_of(type);
    const bool composite = kind == TypeKind::List || kind == TypeKind::Tuple || kind == TypeKind::Dict;
    // The tensors of a tuple may also come one by one; they are then taken where its elements are bound.
    if (composite ? tensor != nullptr : kind != TypeKind::Tensor && tensor && tensor->numel() != 1)
      return nullptr;
    if (kind == TypeKind::String || kind == TypeKind::None) return nullptr;
    if (optional && kind == TypeKind::Tensor && tensor && is_for_later_number(*tensor)) return nullptr;
    const Literal* literal = unnamed_data_.front();
    unnamed_data_.pop_front();
    return literal;
  }

  // ---- tensors ---------------------------------------------------------------------------------------------------

  InputBinding bind_tensor(const TypeRef& type, const std::string& path, const Known& known, bool optional) {
    const InputSpec* spec = named_spec(path);
    if (!spec) {
      spec = take_unnamed([](const InputSpec&) { return true; });
      if (spec && std::holds_alternative<InputSpec::None>(spec->value)) return {Literal{}};
    }
    const auto* tensor_spec = spec ? std::get_if<InputSpec::TensorSpec>(&spec->value) : nullptr;
    if (spec && !tensor_spec) return {baked_tensor(*spec, path)};
    const auto* traced = known.example ? std::get_if<Tensor>(&known.example->data) : nullptr;
    if (!spec && !known.data && !traced && !type->dims) {
      if (known.otherwise) return {*known.otherwise};
      if (known.example && known.example->is_none()) return {Literal{}};
      if (optional) {
        miss(type, path, true);
        return {Literal{}};
      }
    }

    Leaf leaf;
    leaf.path = path;
    leaf.name = unique_name(identifier(path));
    if (known.data) leaf.data = tensor_data(*known.data, path);
    if (!fill(leaf, type, traced, tensor_spec)) {
      miss(type, path, optional);
      missing_tensors_.push_back(path);
      return {Literal{}};
    }
    leaves_.push_back(leaf);
    return {InputBinding::TensorInput{leaf.name, leaf.dtype, {}, false}};
  }

  /// Dtype and dims; false when nothing tells them.
  bool fill(Leaf& leaf, const TypeRef& type, const Tensor* traced, const InputSpec::TensorSpec* spec) {
    std::optional<DType> dtype;
    if (spec && spec->dtype) dtype = *spec->dtype;
    if (leaf.data && dtype && leaf.data->dtype != *dtype)
      throw BindingError(fmt::format("--input {}: {} was asked for, the example value is {}", leaf.path,
                                     to_string(*dtype), to_string(leaf.data->dtype)));
    if (!dtype && leaf.data) dtype = leaf.data->dtype;
    if (!dtype && traced) dtype = traced->dtype;
    if (!dtype) dtype = type->dtype;

    // The sizes of an example: of the data, or what tracing stored.
    std::vector<std::optional<std::int64_t>> example;
    bool has_example = true;
    if (leaf.data) {
      example.assign(leaf.data->dims.begin(), leaf.data->dims.end());
    } else if (traced) {
      example.assign(traced->dims.begin(), traced->dims.end());
    } else if (type->dims) {
      example = *type->dims;
    } else {
      has_example = false;
    }

    const bool spec_dims = spec && spec->dims;
    const InferredInput* inferred = nullptr;
    if (!leaf.data && (!dtype || (!has_example && !spec_dims))) inferred = inferred_at(leaf.path);
    if (!dtype) dtype = inferred ? inferred->dtype : DType::Float32;
    leaf.dtype = *dtype;

    if (spec_dims) return fill_from_spec(leaf, *spec->dims, example, has_example);
    if (!has_example) {
      if (!inferred || inferred->shapes.empty()) return false;
      const Sizes& guess = inferred->shapes[std::min(attempt_, inferred->shapes.size() - 1)];
      for (const std::int64_t size : guess) leaf.dims.push_back({size, {}, false});
      notes_.push_back(
          fmt::format("the shape of `{}` was guessed from {}: pass --input '{}:{}{}' with the "
                      "sizes you need, and words for dims that are dynamic",
                      leaf.path, inferred->evidence, leaf.path, to_string(leaf.dtype), sizes_text(guess)));
      return true;
    }
    for (std::size_t i = 0; i < example.size(); ++i) {
      LeafDim dim;
      dim.chosen = !example[i];
      dim.size = example[i] ? *example[i] : chosen_size(i, example.size(), leaf.dtype, attempt_);
      if (dim.chosen) dim.symbol = fmt::format("{}_{}", leaf.name, i);
      leaf.dims.push_back(std::move(dim));
    }
    return true;
  }

  /// What the weights tell of the input at that path, or else what is to be assumed.
  const InferredInput* inferred_at(const std::string& path) {
    const auto& inferred = inferred_of_parameter();
    const std::string& name = program_.entry->parameters[parameter_].name;
    const auto it = path.starts_with(name) ? inferred.find(path.substr(name.size())) : inferred.end();
    if (it != inferred.end()) return &it->second;
    const auto assumed = assumptions_.find(path);
    return assumed == assumptions_.end() ? nullptr : &assumed->second;
  }

  const std::map<std::string, InferredInput>& inferred_of_parameter() {
    auto& known = inferred_[parameter_];
    if (!known) known = infer_input(program_, parameter_);
    return *known;
  }

  bool fill_from_spec(Leaf& leaf, const std::vector<InputSpec::TensorSpec::Size>& sizes,
                      const std::vector<std::optional<std::int64_t>>& example, bool has_example) const {
    const bool same_rank = has_example && example.size() == sizes.size();
    if (leaf.data && !same_rank)
      throw BindingError(fmt::format("--input {}: {} dims were given, the example value has {}", leaf.path,
                                     sizes.size(), example.size()));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      LeafDim dim;
      if (const auto* size = std::get_if<std::int64_t>(&sizes[i])) {
        if (leaf.data && *example[i] != *size)
          throw BindingError(fmt::format("--input {}: dim {} was given as {}, the example value has {}",
                                         leaf.path, i, *size, *example[i]));
        dim.size = *size;
      } else {
        const auto& word = std::get<std::string>(sizes[i]);
        dim.symbol = word == "?" ? fmt::format("{}_{}", leaf.name, i) : word;
        dim.chosen = !same_rank || !example[i];
        dim.size = dim.chosen ? chosen_size(i, sizes.size(), leaf.dtype, attempt_) : *example[i];
      }
      leaf.dims.push_back(std::move(dim));
    }
    return true;
  }

  static Tensor tensor_data(const Literal& data, const std::string& path) {
    if (const auto* tensor = std::get_if<Tensor>(&data.data)) return *tensor;
    if (const auto* v = std::get_if<std::int64_t>(&data.data)) return Tensor::scalar(*v, DType::Int64);
    if (const auto* v = std::get_if<double>(&data.data)) return Tensor::scalar(*v, DType::Float32);
    if (const auto* v = std::get_if<bool>(&data.data)) return Tensor::scalar(std::int64_t{*v}, DType::Bool);
    throw BindingError(
        fmt::format("--input-data: `{}` is a tensor in the model, the file has something else", path));
  }

  /// `x:int=3` for a tensor argument: a 0-d constant.
  static Literal baked_tensor(const InputSpec& spec, const std::string& path) {
    if (const auto* v = std::get_if<std::int64_t>(&spec.value)) return {Tensor::scalar(*v, DType::Int64)};
    if (const auto* v = std::get_if<double>(&spec.value)) return {Tensor::scalar(*v, DType::Float32)};
    if (const auto* v = std::get_if<bool>(&spec.value))
      return {Tensor::scalar(std::int64_t{*v}, DType::Bool)};
    throw BindingError(
        fmt::format("--input {}: this argument is a tensor, a string cannot stand for it", path));
  }

  // ---- scalars ---------------------------------------------------------------------------------------------------

  /// An int or float that nothing bakes in, and that has an example value or no default, is an input of the graph;
  /// `k:int64[]` asks for it.
  std::optional<InputBinding> number_input(TypeKind kind, const std::string& path, const Known& known) {
    if (kind != TypeKind::Int && kind != TypeKind::Float) return std::nullopt;
    const DType dtype = kind == TypeKind::Int ? DType::Int64 : DType::Float64;
    const InputSpec* spec = named_spec(path);
    const auto* tensor = spec ? std::get_if<InputSpec::TensorSpec>(&spec->value) : nullptr;
    if (tensor && ((tensor->dims && !tensor->dims->empty()) || tensor->dtype.value_or(dtype) != dtype))
      throw BindingError(
          fmt::format("--input {0}: as an input of the graph it is {0}:{1}[]", path, to_string(dtype)));
    const bool unnamed_value =
        !unnamed_.empty() && !std::holds_alternative<InputSpec::TensorSpec>(unnamed_.front()->value);
    if (!tensor && (spec || unnamed_value || (known.otherwise && !known.data))) return std::nullopt;

    Leaf leaf;
    leaf.path = path;
    leaf.name = unique_name(identifier(path));
    leaf.dtype = dtype;
    leaf.is_number = true;
    if (known.data) leaf.data = number_data(kind, *known.data);
    leaves_.push_back(leaf);
    return InputBinding{InputBinding::TensorInput{leaf.name, leaf.dtype, {}, true}};
  }

  static std::optional<Tensor> number_data(TypeKind kind, const Literal& data) {
    const auto number = scalar_from_data(kind, data);
    if (!number) return std::nullopt;
    if (const auto* whole = std::get_if<std::int64_t>(&number->data))
      return Tensor::scalar(*whole, DType::Int64);
    if (const auto* real = std::get_if<double>(&number->data)) return Tensor::scalar(*real, DType::Float64);
    return std::nullopt;
  }

  std::optional<Literal> scalar_value(const TypeRef& type, const std::string& path, const Literal* data) {
    const TypeKind kind = kind_of(type);
    const InputSpec* spec = named_spec(path);
    if (!spec && is_number_kind(kind))
      spec = take_unnamed(
          [](const InputSpec& s) { return !std::holds_alternative<InputSpec::TensorSpec>(s.value); });
    if (!spec) return data ? scalar_from_data(kind, *data) : std::nullopt;
    if (kind == TypeKind::Any && std::holds_alternative<InputSpec::TensorSpec>(spec->value))
      throw BindingError(fmt::format(
          "--input {}: the argument has no type in the file, tensors cannot be bound to it", path));

    const auto* whole = std::get_if<std::int64_t>(&spec->value);
    const auto* real = std::get_if<double>(&spec->value);
    const auto* flag = std::get_if<bool>(&spec->value);
    const auto* text = std::get_if<std::string>(&spec->value);
    const bool any = kind == TypeKind::Any || kind == TypeKind::Union;
    if (whole && (kind == TypeKind::Int || kind == TypeKind::Number || any)) return Literal{*whole};
    if (whole && kind == TypeKind::Float) return Literal{static_cast<double>(*whole)};
    if (real && (kind == TypeKind::Float || kind == TypeKind::Number || any)) return Literal{*real};
    if (flag && (kind == TypeKind::Bool || any)) return Literal{*flag};
    if (text && (kind == TypeKind::String || any)) return Literal{*text};
    throw BindingError(fmt::format("--input {}: this argument is of type {}; write {}", path, type_text(type),
                                   line(type, path)));
  }

  static std::optional<Literal> scalar_from_data(TypeKind kind, const Literal& data) {
    const auto* tensor = std::get_if<Tensor>(&data.data);
    if (!tensor) return data;
    if (tensor->numel() != 1) return std::nullopt;
    if (kind == TypeKind::Bool) return Literal{tensor->to_ints().front() != 0};
    if (kind == TypeKind::Float || (kind == TypeKind::Number && is_floating(tensor->dtype)))
      return Literal{tensor->to_doubles().front()};
    if (kind == TypeKind::Int || kind == TypeKind::Number) return Literal{tensor->to_ints().front()};
    return std::nullopt;
  }

  // ---- lists, tuples, dicts ---------------------------------------------------------------------------------------

  std::optional<InputBinding> bind_composite(const TypeRef& type, const std::string& path,
                                             const Known& known) {
    switch (type->kind) {
      case TypeKind::List: return bind_list(type, path, known);
      case TypeKind::Tuple: return bind_tuple(type, path, known);
      default: return bind_dict(type, path, known);
    }
  }

  std::optional<InputBinding> bind_list(const TypeRef& type, const std::string& path, const Known& known) {
    const TypeRef element = type->elements.empty() ? nullptr : type->elements.front();
    const auto* items = items_of(known.data);
    const auto* traced = items_of(known.example);
    std::size_t count = items ? items->size() : keys_below(path).size();
    if (count == 0 && !items && sure_tensors(element) == 1)
      count = std::max(spare(unnamed_.size()), spare(unnamed_data_.size()));
    if (!items && traced)
      count = std::max(count, traced->size());  // traced code has its number of elements baked in
    if (!items && !traced)
      while (inferred_at(fmt::format("{}.{}", path, count))) ++count;
    if (count == 0 && !items && !traced) return std::nullopt;
    InputBinding::Sequence sequence{true, type, {}};
    for (std::size_t i = 0; i < count; ++i)
      sequence.items.push_back(
          bind(element, fmt::format("{}.{}", path, i), {item_of(items, i), nullptr, item_of(traced, i)}));
    return InputBinding{std::move(sequence)};
  }

  /// What is left for a list of the unnamed specs once the arguments after it have theirs.
  std::size_t spare(std::size_t unnamed) const {
    std::size_t later = 0;
    const auto& parameters = program_.entry->parameters;
    for (std::size_t i = parameter_ + 1; i < parameters.size(); ++i)
      later += sure_tensors(parameters[i].type);
    return unnamed > later ? unnamed - later : 0;
  }

  std::optional<InputBinding> bind_tuple(const TypeRef& type, const std::string& path, const Known& known) {
    const auto* items = items_of(known.data);
    const auto* traced = items_of(known.example);
    if (items && items->size() != type->elements.size())
      throw BindingError(fmt::format("--input-data: `{}` has {} elements in the model and {} in the file",
                                     path, type->elements.size(), items->size()));
    InputBinding::Sequence sequence{false, type, {}};
    for (std::size_t i = 0; i < type->elements.size(); ++i) {
      std::string element = fmt::format("{}.{}", path, i);
      if (i < type->fields.size()) {
        const std::string by_field = fmt::format("{}.{}", path, type->fields[i]);
        const bool counted = named_.contains(element) || has_specs_below(element);
        if (!counted) element = by_field;
      }
      sequence.items.push_back(
          bind(type->elements[i], element, {item_of(items, i), nullptr, item_of(traced, i)}));
    }
    return InputBinding{std::move(sequence)};
  }

  std::optional<InputBinding> bind_dict(const TypeRef& type, const std::string& path, const Known& known) {
    const TypeRef key_type = type->elements.empty() ? nullptr : type->elements.front();
    const TypeRef value_type = type->elements.size() > 1 ? type->elements[1] : nullptr;
    const auto dict_of = [](const Literal* literal) {
      const auto* dict =
          literal ? std::get_if<std::shared_ptr<program::DictLiteral>>(&literal->data) : nullptr;
      return dict ? dict->get() : nullptr;
    };
    const program::DictLiteral* given = dict_of(known.data);
    const program::DictLiteral* traced = dict_of(known.example);
    if (known.data && !given)
      throw BindingError(
          fmt::format("--input-data: `{}` is a dict in the model, the file has something else", path));

    std::vector<Literal> keys;
    const auto add_keys = [&](const program::DictLiteral& dict) {
      for (const auto& [key, value] : dict.items) keys.push_back(key);
    };
    if (given) {
      add_keys(*given);
    } else {
      const auto named = keys_below(path);
      if (traced) {
        add_keys(*traced);
      } else if (named.empty()) {
        return std::nullopt;
      }
      for (const std::string& key : named)
        if (std::none_of(keys.begin(), keys.end(),
                         [&](const Literal& known_key) { return key_text(known_key) == key; }))
          keys.push_back(key_literal(key_type, key));
    }

    const auto value_of_key = [](const program::DictLiteral* dict, const std::string& key) -> const Literal* {
      if (!dict) return nullptr;
      for (const auto& [candidate, value] : dict->items)
        if (key_text(candidate) == key) return &value;
      return nullptr;
    };
    InputBinding::Dict dict{type, {}};
    for (const Literal& key : keys) {
      const std::string text = key_text(key);
      dict.items.emplace_back(key, bind(value_type, fmt::format("{}.{}", path, text),
                                        {value_of_key(given, text), nullptr, value_of_key(traced, text)}));
    }
    return InputBinding{std::move(dict)};
  }

  static std::string key_text(const Literal& key) {
    if (const auto* text = std::get_if<std::string>(&key.data)) return *text;
    if (const auto* whole = std::get_if<std::int64_t>(&key.data)) return std::to_string(*whole);
    return "key";
  }

  static Literal key_literal(const TypeRef& type, const std::string& key) {
    const bool digits = !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
    if (kind_of(type) == TypeKind::Int && digits) return {static_cast<std::int64_t>(std::stoll(key))};
    return {key};
  }

  // ---- what is wrong ----------------------------------------------------------------------------------------------

  /// The `--input` that would bind an argument of that type.
  static std::string line(const TypeRef& declared, const std::string& path) {
    const TypeRef type = unwrapped(declared);
    switch (kind_of(type)) {
      case TypeKind::Int:
      case TypeKind::Number: return fmt::format("--input {}:int=1", path);
      case TypeKind::Float: return fmt::format("--input {}:float=1.0", path);
      case TypeKind::Bool: return fmt::format("--input {}:bool=true", path);
      case TypeKind::String: return fmt::format("--input {}:str=text", path);
      case TypeKind::List:
        return line(type->elements.empty() ? nullptr : type->elements.front(), path + ".0");
      case TypeKind::Dict:
        return line(type->elements.size() > 1 ? type->elements[1] : nullptr, path + ".KEY");
      default: return fmt::format("--input '{}:float32[1,3,224,224]'", path);
    }
  }

  void miss(const TypeRef& type, const std::string& path, bool optional) {
    missing_.push_back(line(type, path));
    if (optional) missing_.back() += fmt::format("   or: --input {}:none", path);
  }

  void refuse_missing() const {
    if (missing_.empty()) return;
    throw MissingInputs(
        fmt::format(
            "the file does not say what {} be inferred; add, with your own values:\n  {}",
            missing_.size() == 1 ? "this input is, and it cannot" : "these inputs are, and they cannot",
            fmt::join(missing_, "\n  ")),
        missing_tensors_.size() == missing_.size() ? missing_tensors_ : std::vector<std::string>{});
  }

  std::vector<std::string> argument_names() const {
    std::vector<std::string> names;
    for (std::size_t i = 1; i < program_.entry->parameters.size(); ++i)
      names.push_back(program_.entry->parameters[i].name);
    return names;
  }

  void refuse_unknown_names() const {
    const auto names = argument_names();
    const auto unknown = [&](std::string_view option, const std::string& name) {
      const auto near = near_names(name, names, 1);
      return BindingError(
          fmt::format("{}: the method has no argument `{}`; {}", option, name,
                      near.empty() ? names.empty() ? std::string("it takes none")
                                                   : fmt::format("its arguments: {}", fmt::join(names, ", "))
                                   : fmt::format("`{}` is near", near.front())));
    };
    for (const auto& [name, spec] : named_)
      if (!used_specs_.contains(name)) throw unknown("--input", name);
    for (const auto& [name, literal] : named_data_)
      if (!used_data_.contains(name)) throw unknown("--input-data", name);
  }

  void refuse_surplus() const {
    const std::size_t left = std::max(unnamed_.size(), unnamed_data_.size());
    if (left > 0)
      throw BindingError(fmt::format("{}: {} more than the method has arguments for ({})",
                                     unnamed_.empty() ? "--input-data" : "--input", left,
                                     fmt::join(argument_names(), ", ")));
  }

  // ---- names and the final form ------------------------------------------------------------------------------------

  std::string unique_name(const std::string& base) {
    std::string name = base;
    for (int i = 1; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    return name;
  }

  void rename_inputs() {
    const auto& names = options_.input_names;
    if (names.empty()) return;
    if (names.size() != leaves_.size())
      throw BindingError(fmt::format("--input-names: {} names were given, the model has {} tensor inputs",
                                     names.size(), leaves_.size()));
    std::set<std::string> seen;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!seen.insert(names[i]).second)
        throw BindingError(fmt::format("--input-names: `{}` was given twice", names[i]));
      leaves_[i].name = names[i];
    }
  }

  void finish(BoundInputs& bound) {
    for (Leaf& leaf : leaves_) {
      InputTensor tensor{leaf.path, {leaf.name, leaf.dtype, {}, leaf.is_number}, std::move(leaf.data)};
      for (const LeafDim& dim : leaf.dims) {
        if (dim.symbol.empty()) {
          tensor.input.shape.emplace_back(dim.size);
          continue;
        }
        tensor.input.shape.push_back(Dim::symbol(dim.symbol, std::min<std::int64_t>(dim.size, 1)));
        if (bound.example_sizes.emplace(dim.symbol, dim.size).second && dim.chosen)
          bound.chosen.push_back(dim.symbol);
      }
      bound.tensors.push_back(std::move(tensor));
    }
    auto next = bound.tensors.cbegin();
    for (InputBinding& argument : bound.arguments) place(argument, next);
    bound.notes = std::move(notes_);
  }

  /// Gives the tensors of the tree their final names and shapes; they were made in this order.
  static void place(InputBinding& binding, std::vector<InputTensor>::const_iterator& next) {
    if (auto* tensor = std::get_if<InputBinding::TensorInput>(&binding.data)) {
      *tensor = (next++)->input;
    } else if (auto* sequence = std::get_if<InputBinding::Sequence>(&binding.data)) {
      for (InputBinding& item : sequence->items) place(item, next);
    } else if (auto* dict = std::get_if<InputBinding::Dict>(&binding.data)) {
      for (auto& [key, value] : dict->items) place(value, next);
    }
  }

  const program::Program& program_;
  const Options& options_;
  std::size_t attempt_;
  const Assumptions& assumptions_;
  std::size_t parameter_ = 0;
  std::map<std::string, const InputSpec*> named_;
  std::deque<const InputSpec*> unnamed_;
  std::map<std::string, const Literal*> named_data_;
  std::deque<const Literal*> unnamed_data_;
  std::set<std::string> used_specs_, used_data_, names_;
  std::vector<Leaf> leaves_;
  std::vector<std::string> missing_, missing_tensors_, notes_;
  std::map<std::size_t, std::optional<std::map<std::string, InferredInput>>>
      inferred_;  // by parameter, when asked for
};

Literal value_of(const InputBinding& binding, const std::map<std::string, Tensor>& tensors) {
  struct Visitor {
    const std::map<std::string, Tensor>& tensors;

    Literal operator()(const Literal& literal) const { return literal; }
    Literal operator()(const InputBinding::TensorInput& input) const {
      const Tensor& tensor = tensors.at(input.name);
      if (!input.is_number) return {tensor};
      if (is_floating(tensor.dtype)) return {tensor.to_doubles().front()};
      return {tensor.to_ints().front()};
    }
    Literal operator()(const InputBinding::Sequence& sequence) const {
      std::vector<Literal> items;
      for (const InputBinding& item : sequence.items) items.push_back(value_of(item, tensors));
      if (!sequence.is_list)
        return {
            std::make_shared<program::TupleLiteral>(program::TupleLiteral{sequence.type, std::move(items)})};
      const auto& elements = sequence.type->elements;
      return {std::make_shared<program::ListLiteral>(
          program::ListLiteral{elements.empty() ? nullptr : elements.front(), std::move(items)})};
    }
    Literal operator()(const InputBinding::Dict& dict) const {
      program::DictLiteral result;
      const auto& elements = dict.type->elements;
      if (elements.size() == 2) {
        result.key = elements[0];
        result.value = elements[1];
      }
      for (const auto& [key, value] : dict.items) result.items.emplace_back(key, value_of(value, tensors));
      return {std::make_shared<program::DictLiteral>(std::move(result))};
    }
  };
  return std::visit(Visitor{tensors}, binding.data);
}

}  // namespace

const std::vector<Literal>* items_of(const Literal* literal) {
  if (!literal) return nullptr;
  if (const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&literal->data))
    return &(*list)->items;
  if (const auto* tuple = std::get_if<std::shared_ptr<program::TupleLiteral>>(&literal->data))
    return &(*tuple)->items;
  return nullptr;
}

const Literal* item_of(const std::vector<Literal>* items, std::size_t index) {
  return items && index < items->size() ? &(*items)[index] : nullptr;
}

BoundInputs bind_inputs(const program::Program& program, const Options& options, const InputData& data,
                        std::size_t attempt, const Assumptions& assumptions) {
  return Binder(program, options, data, attempt, assumptions).bind();
}

std::vector<Literal> argument_values(const BoundInputs& bound, const std::map<std::string, Tensor>& tensors) {
  std::vector<Literal> values;
  for (const InputBinding& argument : bound.arguments) values.push_back(value_of(argument, tensors));
  return values;
}

}  // namespace pt2onnx
