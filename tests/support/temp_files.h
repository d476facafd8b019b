#ifndef TOLLGATE_TESTS_SUPPORT_TEMP_FILES_H_
#define TOLLGATE_TESTS_SUPPORT_TEMP_FILES_H_

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

namespace tollgate {

// A directory of this test's own, gone with it.
class TempFiles {
 public:
  TempFiles() {
    std::string pattern = testing::TempDir() + "/tollgate.XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~TempFiles() { std::filesystem::remove_all(directory_); }
  TempFiles(const TempFiles&) = delete;
  TempFiles& operator=(const TempFiles&) = delete;

  [[nodiscard]] std::string Path(const std::string& name) const {
    return directory_ + "/" + name;
  }
  // The path of a new file with that text.
  [[nodiscard]] std::string Write(const std::string& name,
                                  const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }
  [[nodiscard]] std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string directory_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_TEMP_FILES_H_
