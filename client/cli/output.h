#ifndef TOLLGATE_CLIENT_CLI_OUTPUT_H_
#define TOLLGATE_CLIENT_CLI_OUTPUT_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tollgate::cli {

// Whether text for people may have colours.
enum class Palette { kPlain, kColored };

// Colours for a terminal that has them, unless NO_COLOR says no (any value but
// the empty one, as on no-color.org). `no_color` and `term` are the values of
// those environment variables, or null.
[[nodiscard]] Palette ChoosePalette(bool is_terminal, const char* no_color,
                                    const char* term);

// Where a command writes.
struct Output {
  std::ostream& out;                  // results
  std::ostream& err;                  // complaints and progress
  Palette palette = Palette::kPlain;  // of what goes to `out`
  // The terminal that `out` is, if its cursor can be moved; or else -1.
  int screen_fd = -1;
};

enum class Tint { kNone, kBold, kDim, kGreen, kYellow, kRed };

// `text` in that colour. What is not printable in it, or not UTF-8, or turns or
// hides what stands beside it, becomes \xNN for each byte, so that a rule or a
// value can neither give orders to the terminal nor pass for another.
[[nodiscard]] std::string Tinted(absl::string_view text, Tint tint,
                                 Palette palette);

struct Cell {
  std::string text;
  Tint tint = Tint::kNone;
};

// Rows for people, in columns that are as wide as their widest cell.
// Thread-compatible.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);

  // As many cells as there are headings.
  void AddRow(std::vector<Cell> cells);

  // One line a row, indented, the headings first. A column without any text is
  // left out, and no line ends with a space.
  [[nodiscard]] std::string ToString(Palette palette) const;

 private:
  std::vector<std::vector<Cell>> rows_;  // the headings are the first
};

// "1 rule", "2 rules".
[[nodiscard]] std::string Counted(size_t count, absl::string_view noun);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_OUTPUT_H_
