#include "server/state/state_format.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tollgate::state {
namespace {

constexpr absl::string_view kFileMagic = "TGSTATE\n";
constexpr uint32_t kVersion = 1;
constexpr size_t kChecksumBytes = 16;

void AppendFixed(uint64_t value, size_t bytes, std::string& out) {
  for (size_t i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i)));
  }
}

// Of both parts, one after the other.
std::array<char, kChecksumBytes> ChecksumOf(absl::string_view a,
                                            absl::string_view b) {
  static const int ready = sodium_init();  // chooses the fastest code
  static_cast<void>(ready);
  std::array<unsigned char, kChecksumBytes> sum{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, sum.size());
  for (const absl::string_view part : {a, b}) {
    crypto_generichash_update(
        &state, reinterpret_cast<const unsigned char*>(part.data()),
        part.size());
  }
  crypto_generichash_final(&state, sum.data(), sum.size());
  std::array<char, kChecksumBytes> out{};
  std::memcpy(out.data(), sum.data(), sum.size());
  return out;
}

// The part of a frame that its checksum covers.
std::string CoveredPart(uint32_t payload_bytes, uint32_t buckets,
                        int64_t at_ns) {
  std::string covered(kBlockMagic);
  AppendFixed(payload_bytes, 4, covered);
  AppendFixed(buckets, 4, covered);
  AppendFixed(static_cast<uint64_t>(at_ns), 8, covered);
  return covered;
}

}  // namespace

std::string EncodeHeader(const Header& header) {
  std::string out(kFileMagic);
  AppendFixed(kVersion, 4, out);
  AppendFixed(0, 4, out);
  AppendFixed(static_cast<uint64_t>(header.saved_at_ns), 8, out);
  out.append(reinterpret_cast<const char*>(header.key.bytes.data()),
             header.key.bytes.size());
  const auto sum = ChecksumOf(out, "");
  out.append(sum.data(), sum.size());
  return out;
}

absl::StatusOr<Header> DecodeHeader(absl::string_view bytes) {
  if (bytes.empty()) return absl::InvalidArgumentError("it is empty");
  Decoder in(bytes.substr(0, kHeaderBytes));
  if (in.Bytes(kFileMagic.size()) != kFileMagic) {
    return absl::InvalidArgumentError("it is no state file");
  }
  const uint32_t version = in.Fixed32();
  if (in.ok() && version != kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("got version ", version, ", want ", kVersion));
  }
  in.Fixed32();
  Header header;
  header.saved_at_ns = static_cast<int64_t>(in.Fixed64());
  const absl::string_view key = in.Bytes(header.key.bytes.size());
  const absl::string_view sum = in.Bytes(kChecksumBytes);
  if (!in.ok()) return absl::InvalidArgumentError("it ends in its header");
  const auto want =
      ChecksumOf(bytes.substr(0, kHeaderBytes - kChecksumBytes), "");
  if (sum != absl::string_view(want.data(), want.size())) {
    return absl::InvalidArgumentError("its header is damaged");
  }
  std::memcpy(header.key.bytes.data(), key.data(), key.size());
  return header;
}

std::string EncodeBlock(uint32_t buckets, int64_t at_ns,
                        absl::string_view payload) {
  std::string out =
      CoveredPart(static_cast<uint32_t>(payload.size()), buckets, at_ns);
  const auto sum = ChecksumOf(out, payload);
  out.append(sum.data(), sum.size());
  absl::StrAppend(&out, payload);
  return out;
}

bool DecodeFrame(absl::string_view bytes, Frame& frame) {
  Decoder in(bytes);
  if (in.Bytes(kBlockMagic.size()) != kBlockMagic) return false;
  frame.payload_bytes = in.Fixed32();
  frame.buckets = in.Fixed32();
  frame.at_ns = static_cast<int64_t>(in.Fixed64());
  const absl::string_view sum = in.Bytes(frame.checksum.size());
  if (!in.ok() || frame.payload_bytes > kMaxPayloadBytes) return false;
  std::copy(sum.begin(), sum.end(), frame.checksum.begin());
  return true;
}

bool IsIntact(const Frame& frame, absl::string_view payload) {
  return payload.size() == frame.payload_bytes &&
         ChecksumOf(
             CoveredPart(frame.payload_bytes, frame.buckets, frame.at_ns),
             payload) == frame.checksum;
}

void AppendFixed64(uint64_t value, std::string& out) {
  AppendFixed(value, 8, out);
}

void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void AppendSigned(int64_t value, std::string& out) {
  const auto sign = static_cast<uint64_t>(value >> 63);
  AppendVarint((static_cast<uint64_t>(value) << 1) ^ sign, out);
}

uint64_t Decoder::Varint() {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes_.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes_[i]);
    value |= uint64_t{byte & 0x7FU} << (7 * i);
    if (byte < 0x80) {
      bytes_.remove_prefix(i + 1);
      return value;
    }
  }
  Bytes(bytes_.size() + 1);
  return 0;
}

int64_t Decoder::Signed() {
  const uint64_t value = Varint();
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

uint32_t Decoder::Fixed32() {
  uint32_t value = 0;
  const absl::string_view bytes = Bytes(4);
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

uint64_t Decoder::Fixed64() {
  const uint64_t low = Fixed32();
  return low | uint64_t{Fixed32()} << 32;
}

absl::string_view Decoder::Bytes(size_t size) {
  if (size > bytes_.size()) {
    ok_ = false;
    bytes_ = absl::string_view();
    return bytes_;
  }
  const absl::string_view bytes = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return bytes;
}

}  // namespace tollgate::state
