# Writes a C++ source that has the bytes of files in the order they are given:
#   cmake -DOUT=out.cc -DNAME=kFiles -DFILES="a.html;b.js" -P embed.cmake
# defines `extern const std::array<absl::string_view, 2> kFiles` in tollgate.
set(definitions "")
set(views "")
list(LENGTH FILES count)
foreach(file IN LISTS FILES)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  get_filename_component(base "${file}" NAME)
  string(MAKE_C_IDENTIFIER "${base}" id)
  string(APPEND definitions "constexpr char ${id}[] = {${bytes}};\n")
  string(APPEND views "    absl::string_view(${id}, sizeof(${id})),\n")
endforeach()
file(WRITE "${OUT}" "// Made of the files of a page by cmake/embed.cmake.
#include <array>

#include \"absl/strings/string_view.h\"

namespace tollgate {
namespace {
${definitions}
}  // namespace

extern const std::array<absl::string_view, ${count}> ${NAME};
const std::array<absl::string_view, ${count}> ${NAME} = {
${views}};

}  // namespace tollgate
")
