#include "frontend/module_state.h"

#include <ATen/Context.h>
#include <ATen/core/class_type.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/COW.h>

#include <cstring>
#include <unordered_map>

#include "frontend/values.h"

namespace pt2onnx::frontend {

namespace {

class Copier {
 public:
  at::IValue copy(const at::IValue& value) {
    if (value.isTensor()) return copy_tensor(value.toTensor());
    const bool is_object = value.isObject() && !value.isCustomClass();
    if (value.isDevice()) return device_here(value.toDevice());
    if (!is_object && !value.isList() && !value.isGenericDict() && !value.isTuple()) return value;

    const void* key = value.internalToPointer();
    if (const auto known = values_.find(key); known != values_.end()) return known->second;
    if (is_object) return copy_object(key, value);
    if (value.isList()) {
      const auto list = value.toList();
      c10::impl::GenericList out(list.elementType());
      values_[key] = out;
      for (const at::IValue& item : list.vec()) out.push_back(copy(item));
      return out;
    }
    if (value.isGenericDict()) {
      const auto dict = value.toGenericDict();
      c10::impl::GenericDict out(dict.keyType(), dict.valueType());
      values_[key] = out;
      for (const auto& item : dict) out.insert(copy(item.key()), copy(item.value()));
      return out;
    }
    const auto tuple = value.toTuple();
    std::vector<at::IValue> items;
    for (const at::IValue& item : tuple->elements()) items.push_back(copy(item));
    const auto type = tuple->type<c10::TupleType>();
    at::IValue out = type->schema() ? c10::ivalue::Tuple::createNamed(std::move(items), type)
                                    : c10::ivalue::Tuple::create(std::move(items));
    return values_[key] = std::move(out);
  }

 private:
  at::IValue copy_object(const void* key, const at::IValue& value) {
    const auto object = value.toObject();
    auto out = object->copy();  // of the same class, with the same attributes so far
    values_[key] = out;
    for (std::size_t i = 0; i < object->slots().size(); ++i) out->setSlot(i, copy(object->getSlot(i)));
    return out;
  }

  at::Tensor copy_tensor(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    auto& known = tensors_[tensor.unsafeGetTensorImpl()];
    if (known.defined()) return known;
    const bool strided =
        tensor.layout() == at::kStrided && tensor.has_storage() && !tensor.is_quantized() && tensor.is_cpu();
    return known = strided ? over(copy_storage(tensor), tensor) : tensor.detach().clone();
  }

  /// Views of one storage stay views of one storage.
  c10::Storage copy_storage(const at::Tensor& tensor) {
    c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
    auto& known = storages_[storage];
    if (!known) {
      auto lazy = c10::impl::cow::lazy_clone_storage(*storage);
      if (lazy) {
        // Whoever writes first allocates; a storage that came out of a file names no allocator.
        for (c10::StorageImpl* side : {storage, lazy.get()})
          if (!side->allocator()) side->set_allocator(at::getCPUAllocator());
      }
      known = lazy ? c10::Storage(std::move(lazy)) : clone_storage(tensor.storage());
    }
    return known;
  }

  static c10::Storage clone_storage(const c10::Storage& storage) {
    const auto size = static_cast<std::int64_t>(storage.nbytes());
    const at::Tensor bytes = at::empty({size}, at::kByte);
    if (size > 0) std::memcpy(bytes.mutable_data_ptr(), storage.data(), storage.nbytes());
    return bytes.storage();
  }

  static at::Tensor over(c10::Storage storage, const at::Tensor& like) {
    auto out = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), like.key_set(), like.dtype());
    out.unsafeGetTensorImpl()->set_storage_offset(like.storage_offset());
    out.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
    if (like.is_conj()) out._set_conj(true);
    if (like.is_neg()) out._set_neg(true);
    return out;
  }

  std::unordered_map<const void*, at::IValue> values_;
  std::unordered_map<const void*, at::Tensor> tensors_;
  std::unordered_map<const void*, c10::Storage> storages_;
};

}  // namespace

torch::jit::Module copy_state(const torch::jit::Module& module) {
  return torch::jit::Module(Copier().copy(module._ivalue()).toObject());
}

at::Tensor copy_on_write(const at::Tensor& tensor) { return Copier().copy(tensor).toTensor(); }

}  // namespace pt2onnx::frontend
