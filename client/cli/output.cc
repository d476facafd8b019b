#include "client/cli/output.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tollgate::cli {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kGap = 2;  // between columns

std::string Printable(absl::string_view text) {
  std::string printable;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      absl::StrAppendFormat(&printable, "\\x%02x", byte);
    } else {
      printable.push_back(c);
    }
  }
  return printable;
}

// Code points, as a terminal shows most of them in one place each.
size_t Width(absl::string_view printable) {
  return static_cast<size_t>(std::count_if(
      printable.begin(), printable.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

absl::string_view Sequence(Tint tint) {
  switch (tint) {
    case Tint::kBold:
      return "\033[1m";
    case Tint::kDim:
      return "\033[2m";
    case Tint::kGreen:
      return "\033[32m";
    case Tint::kYellow:
      return "\033[33m";
    case Tint::kRed:
      return "\033[31m";
    case Tint::kNone:
      break;
  }
  return "";
}

}  // namespace

Palette ChoosePalette(bool is_terminal, const char* no_color,
                      const char* term) {
  const bool refused = no_color != nullptr && *no_color != '\0';
  const bool able =
      term != nullptr && *term != '\0' && absl::string_view(term) != "dumb";
  return is_terminal && able && !refused ? Palette::kColored : Palette::kPlain;
}

std::string Tinted(absl::string_view text, Tint tint, Palette palette) {
  const absl::string_view sequence = Sequence(tint);
  if (palette == Palette::kPlain || sequence.empty()) return Printable(text);
  return absl::StrCat(sequence, Printable(text), "\033[0m");
}

Table::Table(std::vector<std::string> headings) {
  std::vector<Cell> row;
  for (std::string& heading : headings) {
    row.push_back({std::move(heading), Tint::kDim});
  }
  rows_.push_back(std::move(row));
}

void Table::AddRow(std::vector<Cell> cells) {
  rows_.push_back(std::move(cells));
}

std::string Table::ToString(Palette palette) const {
  const size_t columns = rows_.front().size();
  std::vector<size_t> widths(columns, 0);  // 0: left out
  for (size_t column = 0; column < columns; ++column) {
    const bool used =
        std::any_of(rows_.begin() + 1, rows_.end(),
                    [&](const auto& row) { return !row[column].text.empty(); });
    if (!used) continue;
    for (const std::vector<Cell>& row : rows_) {
      widths[column] =
          std::max(widths[column], Width(Printable(row[column].text)));
    }
  }
  std::string text;
  for (const std::vector<Cell>& row : rows_) {
    size_t spaces = kIndent;  // owed before the next text of the line
    for (size_t column = 0; column < columns; ++column) {
      if (widths[column] == 0) continue;
      const Cell& cell = row[column];
      if (!cell.text.empty()) {
        absl::StrAppend(&text, std::string(spaces, ' '),
                        Tinted(cell.text, cell.tint, palette));
        spaces = 0;
      }
      spaces += widths[column] - Width(Printable(cell.text)) + kGap;
    }
    text.push_back('\n');
  }
  return text;
}

std::string Counted(size_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

}  // namespace tollgate::cli
