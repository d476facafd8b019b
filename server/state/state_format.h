#ifndef TOLLGATE_SERVER_STATE_STATE_FORMAT_H_
#define TOLLGATE_SERVER_STATE_STATE_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/keyed_hash.h"

// The bytes of a state file, version 1. Integers are little-endian; a varint is
// 7 bits a byte, lowest first, and a signed one is zigzag-coded (both as in
// protobuf).
//
//   header   magic 8, version 4, zero 4, saved_at_ns 8, hash key 16, checksum
//   16 blocks   magic 8, payload size 4, buckets 4, at_ns 8, checksum 16,
//   payload the end  a block of 0 buckets whose payload is a varint: all
//   buckets
//
// A checksum is 128 bits of BLAKE2b over all else of the header or block:
// libsodium has it already, and unlike a CRC it lets no damaged block pass, at
// 1 GB a second. It keeps accidents out, not whoever may write the file;
// so nothing that is read is believed either.
namespace tollgate::state {

inline constexpr size_t kHeaderBytes = 56;
inline constexpr size_t kFrameBytes = 40;
// A block that says it has more than this is none.
inline constexpr size_t kMaxPayloadBytes = 4 << 20;
inline constexpr absl::string_view kBlockMagic = "\x89TGblk\r\n";

struct Header {
  int64_t saved_at_ns = 0;  // when the save began, since the Unix epoch
  HashKey key;              // of the buckets' fingerprints; a secret
};

[[nodiscard]] std::string EncodeHeader(const Header& header);
// INVALID_ARGUMENT that says why `bytes`, the file's first kHeaderBytes or all
// of it, are no header of this version. The saved key is never in a message.
[[nodiscard]] absl::StatusOr<Header> DecodeHeader(absl::string_view bytes);

// What a block says before its payload.
struct Frame {
  uint32_t payload_bytes = 0;
  uint32_t buckets = 0;
  int64_t at_ns = 0;
  std::array<char, 16> checksum{};
};

// A block, whole.
[[nodiscard]] std::string EncodeBlock(uint32_t buckets, int64_t at_ns,
                                      absl::string_view payload);
// False if `bytes` (kFrameBytes) are no frame of a block.
[[nodiscard]] bool DecodeFrame(absl::string_view bytes, Frame& frame);
[[nodiscard]] bool IsIntact(const Frame& frame, absl::string_view payload);

void AppendFixed64(uint64_t value, std::string& out);
void AppendVarint(uint64_t value, std::string& out);
void AppendSigned(int64_t value, std::string& out);

// Takes bytes from the front. Once something was not there, nothing is, and
// every number is 0. Thread-compatible.
class Decoder {
 public:
  explicit Decoder(absl::string_view bytes) : bytes_(bytes) {}

  // Whether everything was there so far.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] size_t left() const { return bytes_.size(); }

  uint64_t Varint();
  int64_t Signed();
  uint32_t Fixed32();
  uint64_t Fixed64();
  absl::string_view Bytes(size_t size);

 private:
  absl::string_view bytes_;
  bool ok_ = true;
};

}  // namespace tollgate::state

#endif  // TOLLGATE_SERVER_STATE_STATE_FORMAT_H_
