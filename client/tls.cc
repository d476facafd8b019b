#include "client/tls.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tollgate::client {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

absl::StatusOr<std::string> Read(const std::string& path) {
  if (path.empty()) return std::string();
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return absl::ErrnoToStatus(errno == 0 ? EIO : errno,
                               absl::StrCat("cannot read ", path));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": got over 1 MiB, want PEM text"));
  }
  return text;
}

}  // namespace

absl::StatusOr<TlsOptions> ReadTlsFiles(const std::string& ca_path,
                                        const std::string& cert_path,
                                        const std::string& key_path) {
  TlsOptions tls;
  for (auto [path, field] :
       {std::pair(&ca_path, &tls.ca), std::pair(&cert_path, &tls.cert),
        std::pair(&key_path, &tls.key)}) {
    absl::StatusOr<std::string> text = Read(*path);
    if (!text.ok()) return text.status();
    *field = *std::move(text);
  }
  return tls;
}

}  // namespace tollgate::client
