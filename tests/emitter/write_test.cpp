#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "model_builder.h"
#include "onnx/onnx_pb.h"

namespace pt2onnx {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Write : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "pt2onnx-write-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    return names;
  }

  static std::string read(const fs::path& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return std::move(bytes).str();
  }

  std::string error_of(const Model& model, const std::string& path,
                       ExternalData external = ExternalData::Auto) {
    try {
      write_model(model, path, {external, "1.0"});
    } catch (const WriteError& error) {
      return error.what();
    }
    return "no error";
  }

  /// Weights of several sizes, one above the writer's buffer, and everything else that a file can hold.
  static ModelBuilder sample() {
    ModelBuilder m(21);
    m.model.metadata.emplace_back("key", "value");
    m.model.domains["custom"] = 1;
    const Value x = m.input("x", DType::Float32, {Dim::symbol("n"), 600});
    const Value h = m.op("MatMul", {x, filled(m, "large", {600, 600})});
    const Value b = m.op("Add", {h, filled(m, "bias", {600})});
    m.output(m.op("Mul", {b, filled(m, "scale", {1})}));
    m.output(m.zeros("nothing", {0}));
    return m;
  }

  static Value filled(ModelBuilder& m, const std::string& name, const std::vector<std::int64_t>& dims) {
    std::size_t count = 1;
    for (const auto dim : dims) count *= static_cast<std::size_t>(dim);
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), -5.0);
    return m.constant(name, Tensor::of_doubles(values, dims, DType::Float32));
  }

  fs::path folder_;
};

TEST_F(Write, MakesTheBytesThatProtobufMakes) {
  const ModelBuilder m = sample();
  const std::string bytes = serialize_model(m.model);
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(bytes));
  EXPECT_EQ(proto.graph().initializer_size(), 4);
  EXPECT_EQ(proto.graph().initializer(0).name(), "nothing");  // what the model returns comes first
  EXPECT_EQ(proto.graph().initializer(1).raw_data().size(), 1440000u);
  EXPECT_TRUE(proto.SerializeAsString() == bytes);

  write_model(m.model, (folder_ / "m.onnx").string(), {});
  EXPECT_TRUE(read(folder_ / "m.onnx") == bytes);
  EXPECT_THAT(files(), UnorderedElementsAre("m.onnx"));
}

TEST_F(Write, ReplacesAFileAndFollowsALink) {
  std::ofstream(folder_ / "old.onnx") << "old";
  fs::create_symlink("old.onnx", folder_ / "link.onnx");
  const ModelBuilder m = sample();
  write_model(m.model, (folder_ / "link.onnx").string(), {});
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.onnx"));
  EXPECT_TRUE(read(folder_ / "old.onnx") == serialize_model(m.model));
  EXPECT_THAT(files(), UnorderedElementsAre("old.onnx", "link.onnx"));
}

TEST_F(Write, KeepsThePermissionsOfTheFileThatItReplaces) {
  const fs::path path = folder_ / "m.onnx";
  std::ofstream(path) << "old";
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  write_model(sample().model, path.string(), {});
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Write, PutsLargeWeightsIntoAFileOfTheirOwn) {
  const ModelBuilder m = sample();
  write_model(m.model, (folder_ / "m.onnx").string(), {ExternalData::Always, "1.0"});
  EXPECT_THAT(files(), UnorderedElementsAre("m.onnx", "m.onnx.data"));
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(read(folder_ / "m.onnx")));
  EXPECT_EQ(proto.producer_version(), "1.0");
  const std::string data = read(folder_ / "m.onnx.data");

  onnx::ModelProto whole;
  ASSERT_TRUE(whole.ParseFromString(serialize_model(m.model)));
  int outside = 0;
  for (int i = 0; i < proto.graph().initializer_size(); ++i) {
    const auto& initializer = proto.graph().initializer(i);
    const std::string& expected = whole.graph().initializer(i).raw_data();
    if (initializer.data_location() != onnx::TensorProto::EXTERNAL) {
      EXPECT_EQ(initializer.raw_data(), expected);
      continue;
    }
    ++outside;
    std::map<std::string, std::string> where;
    for (const auto& entry : initializer.external_data()) where[entry.key()] = entry.value();
    EXPECT_EQ(where["location"], "m.onnx.data");
    const auto offset = std::stoul(where["offset"]);
    EXPECT_EQ(offset % 4096, 0u);
    EXPECT_TRUE(data.substr(offset, std::stoul(where["length"])) == expected);
  }
  EXPECT_EQ(outside, 2);
}

TEST_F(Write, NamesPathAndCauseAndLeavesNothing) {
  const ModelBuilder m = sample();
  const std::string missing = (folder_ / "no" / "such" / "m.onnx").string();
  EXPECT_EQ(error_of(m.model, missing), "cannot write `" + missing + "`: No such file or directory");
  EXPECT_EQ(error_of(m.model, folder_.string()), "cannot write `" + folder_.string() + "`: Is a directory");
  EXPECT_THAT(error_of(m.model, ""), HasSubstr("No such file"));
  std::ofstream(folder_ / "file") << "text";
  EXPECT_THAT(error_of(m.model, (folder_ / "file" / "m.onnx").string()), HasSubstr("Not a directory"));
  EXPECT_THAT(error_of(m.model, (folder_ / std::string(300, 'x')).string()), HasSubstr("File name too long"));
  EXPECT_THAT(files(), UnorderedElementsAre("file"));

  fs::create_directory(folder_ / "m.onnx.data");  // in the way of the weights
  EXPECT_THAT(error_of(m.model, (folder_ / "m.onnx").string(), ExternalData::Always),
              HasSubstr("m.onnx.data`: Is a"));
  EXPECT_THAT(files(), UnorderedElementsAre("file", "m.onnx.data"));
}

TEST_F(Write, RespectsPermissions) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const ModelBuilder m = sample();
  std::ofstream(folder_ / "kept.onnx") << "old";
  fs::permissions(folder_ / "kept.onnx", fs::perms::owner_read);
  EXPECT_THAT(error_of(m.model, (folder_ / "kept.onnx").string()), HasSubstr("Permission denied"));
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(error_of(m.model, (folder_ / "m.onnx").string()), HasSubstr("Permission denied"));
  fs::permissions(folder_, fs::perms::owner_all);
}

TEST_F(Write, ReportsAFullDisk) {
  const ModelBuilder m = sample();
  EXPECT_EQ(error_of(m.model, "/dev/full"), "cannot write `/dev/full`: No space left on device");
  EXPECT_EQ(error_of(m.model, "/dev/null"), "no error");
  struct stat info{};
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));  // written to, not replaced
}

TEST_F(Write, RefusesAFileAboveTwoGibibytes) {
  // Address space that nothing may touch: the size alone decides.
  const std::size_t size = std::size_t{3} << 30;
  void* const reserved = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(reserved, MAP_FAILED);
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Int8, {1});
  Tensor huge;
  huge.dtype = DType::Int8;
  huge.dims = {static_cast<std::int64_t>(size)};
  huge.bytes = {static_cast<const std::byte*>(reserved), size};
  m.output(
      m.op("Add", {m.op("Cast", {x}, {{"to", 7}}), m.op("Cast", {m.constant("huge", huge)}, {{"to", 7}})}));
  EXPECT_THAT(error_of(m.model, (folder_ / "m.onnx").string(), ExternalData::Never),
              HasSubstr("at most 2048 MiB"));
  EXPECT_THROW(serialize_model(m.model), WriteError);
  EXPECT_THAT(files(), IsEmpty());
  ::munmap(reserved, size);
}

}  // namespace
}  // namespace pt2onnx
