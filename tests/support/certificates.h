#ifndef TOLLGATE_TESTS_SUPPORT_CERTIFICATES_H_
#define TOLLGATE_TESTS_SUPPORT_CERTIFICATES_H_

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/temp_files.h"

namespace tollgate {

// Authorities and certificates as PEM files in a directory of their own, made
// with the openssl command.
class Certificates {
 public:
  // NAME.pem and NAME.key, which can sign others.
  void MakeAuthority(const std::string& name) const {
    Run(absl::StrCat("req -x509 ", kNewKey, " -days 2 -subj /CN=", name,
                     " -keyout ", name, ".key -out ", name, ".pem"));
  }
  // NAME.pem and NAME.key, signed by `authority`, for a subject alternative
  // name such as DNS:tollgate.test.
  void Make(const std::string& name, const std::string& authority,
            const std::string& san) const {
    Run(absl::StrCat("req ", kNewKey, " -subj /CN=test -keyout ", name,
                     ".key -out ", name, ".csr"));
    const std::string extensions =
        files_.Write(name + ".ext", "subjectAltName=" + san);
    Run(absl::StrCat("x509 -req -days 2 -in ", name, ".csr -CA ", authority,
                     ".pem -CAkey ", authority, ".key -CAcreateserial",
                     " -extfile ", extensions, " -out ", name, ".pem"));
  }
  [[nodiscard]] std::string Path(const std::string& name) const {
    return files_.Path(name);
  }
  [[nodiscard]] std::string Read(const std::string& name) const {
    return files_.Read(name);
  }

 private:
  static constexpr char kNewKey[] =
      "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

  void Run(const std::string& arguments) const {
    const std::string command = absl::StrCat(
        "cd ", files_.Path(""), " && openssl ", arguments, " 2>/dev/null");
    ASSERT_EQ(std::system(command.c_str()), 0) << arguments;
  }

  const TempFiles files_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_CERTIFICATES_H_
