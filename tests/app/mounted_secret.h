#ifndef TOLLGATE_TESTS_APP_MOUNTED_SECRET_H_
#define TOLLGATE_TESTS_APP_MOUNTED_SECRET_H_

#include <chrono>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/certificates.h"
#include "tests/support/temp_files.h"

namespace tollgate {

// A directory as Kubernetes mounts a Secret: files are links into a directory
// that a link names, and an update replaces that link at once. Begins with the
// certificate `server` of authority `ca`; `made` must outlive it.
class MountedSecret {
 public:
  explicit MountedSecret(const Certificates& made) : made_(made) {
    Mount("server");
    for (const char* name : {"tls.crt", "tls.key", "ca.crt"}) {
      std::filesystem::create_symlink(absl::StrCat("..data/", name),
                                      files_.Path(name));
    }
  }
  [[nodiscard]] std::string Path(const std::string& name) const {
    return files_.Path(name);
  }
  // With that certificate instead.
  void Mount(const std::string& certificate) {
    const std::string version = absl::StrCat("..", ++versions_);
    std::filesystem::create_directory(files_.Path(version));
    const auto put = [&](const char* name, const std::string& from) {
      const std::string path =
          files_.Write(version + "/" + name, made_.Read(from));
      // gRPC tells files of different versions from each other by whole
      // seconds, which a real rotation is always apart.
      std::filesystem::last_write_time(
          path, std::filesystem::file_time_type::clock::now() -
                    std::chrono::hours(10 - versions_));
    };
    put("tls.crt", certificate + ".pem");
    put("tls.key", certificate + ".key");
    put("ca.crt", "ca.pem");
    std::filesystem::create_directory_symlink(version, files_.Path("..tmp"));
    std::filesystem::rename(files_.Path("..tmp"), files_.Path("..data"));
  }

 private:
  const Certificates& made_;
  const TempFiles files_;
  int versions_ = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_APP_MOUNTED_SECRET_H_
