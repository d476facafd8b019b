#include "server/rules/rule_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/rules/rule_file.h"

namespace tollgate {
namespace {

namespace fs = std::filesystem;

absl::Status Unreadable(const std::error_code& error, absl::string_view want) {
  return absl::InvalidArgumentError(
      absl::StrCat("got ", error.message(), ", want ", want));
}

std::error_code LastError() { return {errno, std::generic_category()}; }

}  // namespace

bool IsRuleFileName(absl::string_view name) {
  return !absl::StartsWith(name, ".") &&
         (absl::EndsWith(name, ".yaml") || absl::EndsWith(name, ".yml"));
}

absl::StatusOr<std::vector<std::string>> ListRuleFiles(
    const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    if (!error)
      error = std::make_error_code(std::errc::no_such_file_or_directory);
    return Unreadable(error, "a rule file or a directory of them");
  }
  if (!fs::is_directory(status)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!IsRuleFileName(entry->path().filename().string())) continue;
    // A link to nothing stays: reading it says so. What is there and is no
    // file cannot be meant.
    std::error_code ignored;
    const fs::file_status target = fs::status(entry->path(), ignored);
    if (fs::exists(target) && !fs::is_regular_file(target)) continue;
    files.push_back(entry->path().string());
  }
  if (error) return Unreadable(error, "a directory that can be read");
  if (files.empty()) {
    return absl::InvalidArgumentError(
        "got a directory without rule files, want *.yaml or *.yml in it");
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::string> ReadFileText(const std::string& path) {
  constexpr absl::string_view kWant = "a rule file that can be read";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Unreadable(LastError(), kWant);
  const absl::Cleanup close_file = [file] { close(file); };
  std::string text;
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t n = read(file, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Unreadable(LastError(), kWant);
    if (n == 0) return text;
    text.append(chunk.data(), static_cast<size_t>(n));
    if (text.size() > kMaxRuleFileBytes) return TooManyBytes();
  }
}

absl::Status TooManyBytes() {
  return absl::InvalidArgumentError(
      absl::StrCat("got more than ", kMaxRuleFileBytes,
                   " bytes, want at most those (4 MiB): split it into a "
                   "directory of files"));
}

}  // namespace tollgate
