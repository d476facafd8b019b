#include "client/cli/output.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/limiter/request.h"

namespace tollgate::cli {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kGap = 2;  // between columns

// Takes the next character off `text`, which is not empty: its bytes, and its
// code point, or kNoCharacter and one byte where there is none.
constexpr uint32_t kNoCharacter = 0xFFFFFFFF;
absl::string_view TakeCharacter(absl::string_view& text, uint32_t& code_point) {
  const auto first = static_cast<unsigned char>(text.front());
  const size_t size = first < 0x80   ? 1
                      : first < 0xE0 ? 2
                      : first < 0xF0 ? 3
                                     : 4;
  absl::string_view bytes = text.substr(0, size);
  if (bytes.size() == size && IsValidUtf8(bytes)) {
    code_point = size == 1 ? first : first & (0x7FU >> size);
    for (const char c : bytes.substr(1)) {
      code_point = code_point << 6 | (static_cast<unsigned char>(c) & 0x3FU);
    }
  } else {
    bytes = text.substr(0, 1);
    code_point = kNoCharacter;
  }
  text.remove_prefix(bytes.size());
  return bytes;
}

bool IsPrintable(uint32_t code_point) {
  // Controls, of which terminals obey those above 0x7F too; what has no width;
  // what changes the direction of text; separators of lines; tags.
  constexpr std::array<std::pair<uint32_t, uint32_t>, 10> kNot = {{
      {0x00, 0x1F},
      {0x7F, 0x9F},
      {0xAD, 0xAD},
      {0x061C, 0x061C},
      {0x200B, 0x200F},
      {0x2028, 0x202E},
      {0x2060, 0x206F},
      {0xFEFF, 0xFEFF},
      {0xE0000, 0xE007F},
      {kNoCharacter, kNoCharacter},
  }};
  return std::none_of(kNot.begin(), kNot.end(), [&](const auto& range) {
    return code_point >= range.first && code_point <= range.second;
  });
}

std::string Printable(absl::string_view text) {
  std::string printable;
  while (!text.empty()) {
    uint32_t code_point = 0;
    const absl::string_view bytes = TakeCharacter(text, code_point);
    if (IsPrintable(code_point)) {
      absl::StrAppend(&printable, bytes);
      continue;
    }
    for (const char c : bytes) {
      absl::StrAppendFormat(&printable, "\\x%02x",
                            static_cast<unsigned char>(c));
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
