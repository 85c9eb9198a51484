#include "frontend/deferred_weights.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>

namespace pt2onnx::frontend {

namespace {

constexpr std::uint64_t kPage = 4096;     // smaller ones share pages with what is read anyway
constexpr std::uint64_t kAlignment = 16;  // of any element; torch writes records at multiples of 64

/// Unpickling runs code of the file (`__setstate__`: packed weights of quantized modules), makes objects of C++ classes
/// or sparse tensors, whose indices are looked at, or turns bytes around.
bool may_look_at_weights(const Archive& archive) {
  constexpr std::string_view kSigns[] = {"__setstate__", "torch.classes.", "_rebuild_sparse",
                                         "_rebuild_wrapper_subclass"};
  if (std::ranges::any_of(
          kSigns, [&](std::string_view sign) { return archive.code.find(sign) != std::string::npos; }))
    return true;
  const auto order = archive.read("byteorder");
  return order && *order != "little";
}

/// Nullopt for one that is damaged: comparing it with its checksum will say how.
std::optional<std::uint64_t> offset_of(const ZipEntry& entry, const Archive& archive) {
  try {
    const auto bytes = archive.directory->stored(entry);
    if (bytes.size() != entry.size) return std::nullopt;
    return static_cast<std::uint64_t>(bytes.data() - archive.file->bytes().data());
  } catch (const ZipError&) {
    return std::nullopt;
  }
}

/// The files whose pages torch uses, by the address of the tensor's bytes. Torch's copy-on-write wants a deleter that gets
/// that address and nothing else.
class PagesInUse {
 public:
  c10::DataPtr borrow(void* data, std::shared_ptr<const MappedFile> file) {
    const std::scoped_lock lock(mutex_);
    files_[data] = std::move(file);
    return {data, data, &PagesInUse::give_back, c10::Device(c10::kCPU)};
  }
  static PagesInUse& instance() {
    static auto* const kInstance =
        new PagesInUse;  // never destroyed: a tensor may be freed after everything else
    return *kInstance;
  }

 private:
  static void give_back(void* data) {
    PagesInUse& self = instance();
    const std::scoped_lock lock(self.mutex_);
    self.files_.erase(data);
  }

  std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<const MappedFile>> files_;
};

}  // namespace

class DeferredWeights::Reader final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit Reader(DeferredWeights& owner) : owner_(owner), bytes_(owner.file_->bytes()) {}

  size_t size() const override { return bytes_.size(); }

  size_t read(uint64_t pos, void* buffer, size_t n, const char*) const override {
    if (pos >= bytes_.size()) return 0;
    n = std::min<std::size_t>(n, bytes_.size() - pos);
    if (const auto it = owner_.waiting_.find(pos); it != owner_.waiting_.end() && it->second->size == n)
      owner_.is_ambiguous_ |= !owner_.left_out_.emplace(buffer, pos).second;
    else
      std::memcpy(buffer, bytes_.data() + pos, n);
    return n;
  }

 private:
  DeferredWeights& owner_;
  std::span<const unsigned char> bytes_;
};

DeferredWeights::DeferredWeights(const Archive& archive) : file_(archive.file) {
  if (may_look_at_weights(archive)) return;
  for (const ZipEntry* entry : archive.weights) {
    const std::string_view inner = std::string_view(entry->name).substr(archive.prefix.size());
    // Constants of the code are few, and torch keeps them where attach() does not look.
    if (!inner.starts_with("data/") || entry->method != 0 || entry->size < kPage) continue;
    const auto offset = offset_of(*entry, archive);
    if (!offset || *offset % kAlignment != 0) continue;
    waiting_.emplace(*offset, entry);
    entries_.insert(entry);
  }
}

std::shared_ptr<caffe2::serialize::ReadAdapterInterface> DeferredWeights::reader() {
  left_out_.clear();
  is_ambiguous_ = false;
  return std::make_shared<Reader>(*this);
}

bool DeferredWeights::attach(const torch::jit::Module& module) {
  std::set<const void*> seen;
  std::map<const void*, c10::StorageImpl*> storages;
  const std::function<bool(const at::IValue&)> collect = [&](const at::IValue& value) {
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      if (tensor.defined() && tensor.has_storage())
        storages[tensor.storage().data()] = tensor.storage().unsafeGetStorageImpl();
      return true;
    }
    return value.isPtrType() && !seen.insert(value.internalToPointer()).second;  // true: not into it (again)
  };
  at::IValue(module._ivalue()).visit(collect);

  if (is_ambiguous_) return false;
  for (const auto& [buffer, offset] : left_out_)
    if (const auto it = storages.find(buffer);
        it == storages.end() || it->second->nbytes() != waiting_[offset]->size)
      return false;
  for (const auto& [buffer, offset] : left_out_) {
    void* bytes = const_cast<unsigned char*>(file_->bytes().data() +
                                             offset);  // NOLINT: pages of our own, see MappedFile
    storages[buffer]->set_data_ptr_noswap(PagesInUse::instance().borrow(bytes, file_));
  }
  return true;
}

}  // namespace pt2onnx::frontend
