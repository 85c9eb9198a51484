#include "frontend/zip_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

namespace pt2onnx::frontend {

namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kDirectoryHeader = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr std::size_t kEndSize = 22, kEnd64LocatorSize = 20, kEnd64Size = 56, kDirectoryHeaderSize = 46,
                      kLocalHeaderSize = 30;
constexpr std::uint64_t kUnknown32 = 0xffffffff;  // the number stands in the zip64 record

/// Little-endian numbers at an offset, refused past the end.
class Reader {
 public:
  explicit Reader(std::span<const unsigned char> bytes) : bytes_(bytes) {}

  std::uint64_t number(std::uint64_t at, std::size_t size) const {
    const auto part = range(at, size);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{part[i]} << (8 * i);
    return value;
  }
  std::uint16_t u16(std::uint64_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u32(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::uint64_t at) const { return number(at, 8); }
  std::span<const unsigned char> range(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at)
      throw ZipError("an offset points past the end of the file");
    return bytes_.subspan(at, size);
  }
  std::string text(std::uint64_t at, std::uint64_t size) const {
    const auto part = range(at, size);
    return {part.begin(), part.end()};
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::span<const unsigned char> bytes_;
};

/// A name in backticks for a message; a damaged one may hold anything.
std::string quoted(const std::string& name) {
  std::string out = name;
  for (char& c : out)
    if (c < 0x20 || c > 0x7e) c = '?';
  return "`" + out + "`";
}

struct DirectoryPlace {
  std::uint64_t offset = 0, count = 0;
};

/// The end record is the last thing in the file but for a comment of up to 64 KiB.
std::uint64_t find_end(const Reader& file) {
  if (file.size() >= kEndSize) {
    const std::uint64_t last = file.size() - kEndSize;
    const std::uint64_t first = last > 0xffff ? last - 0xffff : 0;
    for (std::uint64_t at = last + 1; at-- > first;)
      if (file.u32(at) == kEnd && at + kEndSize + file.u16(at + 20) <= file.size()) return at;
  }
  throw ZipError("the directory at its end is missing");
}

DirectoryPlace find_directory(const Reader& file) {
  const std::uint64_t end = find_end(file);
  if (end >= kEnd64LocatorSize && file.u32(end - kEnd64LocatorSize) == kEnd64Locator) {
    const std::uint64_t end64 = file.u64(end - kEnd64LocatorSize + 8);
    file.range(end64, kEnd64Size);
    if (file.u32(end64) != kEnd64) throw ZipError("its zip64 end record is damaged");
    return {file.u64(end64 + 48), file.u64(end64 + 32)};
  }
  return {file.u32(end + 16), file.u16(end + 10)};
}

/// Sizes and offset that did not fit into 32 bits stand in extra field 1, in this order, only those that are needed.
void read_zip64_extra(const Reader& file, std::uint64_t at, std::uint64_t size, ZipEntry& entry) {
  const std::uint64_t end = at + size;
  while (at + 4 <= end) {
    const std::uint16_t id = file.u16(at), length = file.u16(at + 2);
    at += 4;
    if (id == 1) {
      for (std::uint64_t* field : {&entry.size, &entry.compressed, &entry.header}) {
        if (*field != kUnknown32) continue;
        *field = file.u64(at);
        at += 8;
      }
      return;
    }
    at += length;
  }
}

std::uint32_t checksum(std::span<const unsigned char> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

std::string inflate_all(std::span<const unsigned char> packed, std::uint64_t size, const std::string& name) {
  // Deflate cannot do better than about 1:1032; a header that claims more would only make us reserve memory.
  if (size / 1100 > packed.size() + 64) throw ZipError("the size of " + quoted(name) + " is impossible");
  std::string out(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw ZipError(quoted(name) + " cannot be unpacked");
  constexpr std::uint64_t kStep = 1U << 30;  // zlib counts in 32 bits
  std::size_t in = 0, done = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_in = const_cast<unsigned char*>(packed.data() + in);  // NOLINT: zlib does not write there
    stream.avail_in = static_cast<uInt>(std::min<std::uint64_t>(packed.size() - in, kStep));
    stream.next_out = reinterpret_cast<unsigned char*>(out.data() + done);
    stream.avail_out = static_cast<uInt>(std::min<std::uint64_t>(size - done, kStep));
    const uInt had_in = stream.avail_in, had_out = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    in += had_in - stream.avail_in;
    done += had_out - stream.avail_out;
    if (had_in == stream.avail_in && had_out == stream.avail_out) break;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || done != size) throw ZipError(quoted(name) + " cannot be unpacked");
  return out;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const auto fail = [] { throw std::system_error(errno, std::generic_category()); };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail();
  struct stat info{};
  if (fstat(file, &info) != 0) {
    close(file);
    fail();
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  // Writable and private, for what torch may do to weights that it holds; no memory is set aside for that.
  void* data =
      size == 0 ? nullptr : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
  const int error = errno;
  close(file);  // the mapping stays
  if (data == MAP_FAILED) throw std::system_error(error, std::generic_category());
  bytes_ = {static_cast<const unsigned char*>(data), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<unsigned char*>(bytes_.data()), bytes_.size());  // NOLINT
}

void MappedFile::forget(std::span<const unsigned char> part) const {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  // A hint only: the pages are clean and come back from the file.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // NOLINT
}

ZipDirectory::ZipDirectory(const MappedFile& file) : file_(file) {
  const Reader reader(file.bytes());
  const DirectoryPlace place = find_directory(reader);
  std::uint64_t at = place.offset;
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < place.count; ++i) {
    reader.range(at, kDirectoryHeaderSize);
    if (reader.u32(at) != kDirectoryHeader) throw ZipError("its directory is damaged");
    ZipEntry entry;
    entry.method = reader.u16(at + 10);
    entry.crc = reader.u32(at + 16);
    entry.compressed = reader.u32(at + 20);
    entry.size = reader.u32(at + 24);
    entry.header = reader.u32(at + 42);
    const std::uint64_t name = reader.u16(at + 28), extra = reader.u16(at + 30),
                        comment = reader.u16(at + 32);
    entry.name = reader.text(at + kDirectoryHeaderSize, name);
    read_zip64_extra(reader, at + kDirectoryHeaderSize + name, extra, entry);
    if (!names.insert(entry.name).second) throw ZipError(quoted(entry.name) + " is in it twice");
    entries_.push_back(std::move(entry));
    at += kDirectoryHeaderSize + name + extra + comment;
  }
}

const ZipEntry* ZipDirectory::find(std::string_view name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const ZipEntry& e) { return e.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

std::span<const unsigned char> ZipDirectory::stored(const ZipEntry& entry) const {
  const Reader reader(file_.bytes());
  if (reader.u32(entry.header) != kLocalHeader)
    throw ZipError("the header of " + quoted(entry.name) + " is damaged");
  const std::uint64_t name = reader.u16(entry.header + 26), extra = reader.u16(entry.header + 28);
  if (reader.text(entry.header + kLocalHeaderSize, name) != entry.name)
    throw ZipError("the header of " + quoted(entry.name) + " is damaged");
  return reader.range(entry.header + kLocalHeaderSize + name + extra, entry.compressed);
}

std::string ZipDirectory::read(const ZipEntry& entry) const {
  const auto packed = stored(entry);
  std::string out;
  if (entry.method == 8) {
    out = inflate_all(packed, entry.size, entry.name);
  } else if (entry.method == 0 && entry.compressed == entry.size) {
    out.assign(packed.begin(), packed.end());
  } else {
    throw ZipError(quoted(entry.name) + " is packed in a way that is not known");
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(out.data());
  if (checksum({bytes, out.size()}) != entry.crc)
    throw ZipError(quoted(entry.name) + " does not match its checksum");
  return out;
}

void ZipDirectory::check(const ZipEntry& entry) const {
  if (entry.method != 0 || entry.compressed != entry.size) {
    read(entry);
    return;
  }
  // Piece by piece, so that weights are not in memory a second time.
  constexpr std::size_t kPiece = std::size_t{4} << 20;
  unsigned long sum = 0;
  for (auto rest = stored(entry); !rest.empty();) {
    const auto piece = rest.first(std::min(rest.size(), kPiece));
    sum = crc32_z(sum, piece.data(), piece.size());
    file_.forget(piece);
    rest = rest.subspan(piece.size());
  }
  if (sum != entry.crc) throw ZipError(quoted(entry.name) + " does not match its checksum");
}

}  // namespace pt2onnx::frontend
