#include "frontend/debug_records.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <stdexcept>

namespace pt2onnx::frontend {

namespace {

using Elements = c10::ivalue::TupleElements;

/// The elements of a tuple of at least that size; the caller keeps the value.
const Elements& elements(const at::IValue& value, std::size_t size) {
  if (!value.isTuple() || value.toTupleRef().elements().size() < size)
    throw std::invalid_argument("damaged record");
  return value.toTupleRef().elements();
}

std::size_t index_of(const at::IValue& value) {
  if (!value.isInt() || value.toInt() < 0) throw std::invalid_argument("damaged record");
  return static_cast<std::size_t>(value.toInt());
}

const std::string& text_of(const at::IValue& value) {
  if (!value.isString()) throw std::invalid_argument("damaged record");
  return value.toStringRef();
}

}  // namespace

DebugRecords::DebugRecords(std::string_view pickle) {
  try {
    read(pickle);
  } catch (const std::exception&) {
    records_.clear();  // places are a convenience: the archive's own code is named instead
  }
}

// ("FORMAT_WITH_STRING_TABLE", (string, ...), (record, ...)); before torch 1.12 just (record, ...).
// record: (offset, ((lines, file, first line), begin, end), tag), where lines and file are indices of strings, or strings.
void DebugRecords::read(std::string_view pickle) {
  const at::IValue root = torch::jit::unpickle(pickle.data(), pickle.size());
  const Elements& top = elements(root, 0);
  const bool has_table = top.size() == 3 && top[0].isString();
  if (has_table)
    for (const at::IValue& text : elements(top[1], 0)) strings_.push_back(text_of(text));
  const auto known = [&](std::size_t index) {
    if (index >= strings_.size()) throw std::invalid_argument("damaged record");
    return index;
  };
  const auto added = [&](std::string text) {
    strings_.push_back(std::move(text));
    return strings_.size() - 1;
  };

  for (const at::IValue& entry : has_table ? elements(top[2], 0) : top) {
    const Elements& fields = elements(entry, 2);
    const Elements& range = elements(fields[1], 3);
    const Elements& source = elements(range[0], 3);
    Record record;
    record.offset = index_of(fields[0]);
    if (has_table) {
      if (!source[0].isIntList()) throw std::invalid_argument("damaged record");
      for (const std::int64_t line : source[0].toIntVector())
        record.lines.push_back(known(static_cast<std::size_t>(line)));
      record.file = known(index_of(source[1]));
    } else {
      record.lines.push_back(added(text_of(source[0])));
      record.file = added(source[1].isNone() ? std::string() : text_of(source[1]));
    }
    record.first_line = static_cast<int>(std::min<std::size_t>(index_of(source[2]), 1U << 30));
    record.begin = index_of(range[1]);
    record.end = index_of(range[2]);
    records_.push_back(std::move(record));
  }
  std::stable_sort(records_.begin(), records_.end(),
                   [](const Record& a, const Record& b) { return a.offset < b.offset; });
}

std::size_t DebugRecords::find(std::size_t offset) const {
  const auto after =
      std::upper_bound(records_.begin(), records_.end(), offset,
                       [](std::size_t value, const Record& record) { return value < record.offset; });
  return after == records_.begin() ? kNone : static_cast<std::size_t>(after - records_.begin()) - 1;
}

OriginalRange DebugRecords::range(std::size_t record) const {
  const Record& found = records_.at(record);
  OriginalRange out{strings_[found.file], found.first_line, {}, 0, 0};
  for (const std::size_t line : found.lines) out.text += strings_[line];
  out.begin = std::min(found.begin, out.text.size());
  out.end = std::clamp(found.end, out.begin, out.text.size());
  return out;
}

}  // namespace pt2onnx::frontend
