#include "client/cli/status_table.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace tollgate::cli {
namespace {

std::string Text(const google::protobuf::Duration& duration) {
  return absl::FormatDuration(absl::Seconds(duration.seconds()) +
                              absl::Nanoseconds(duration.nanos()));
}

Cell OutcomeCell(const v1::RuleStatus& status) {
  Cell cell;
  switch (status.outcome()) {
    case v1::ALLOWED:
      cell = {"allowed", Tint::kGreen};
      break;
    case v1::REFUSED:
      cell = {"refused", Tint::kRed};
      break;
    case v1::IMPOSSIBLE:
      cell = {"impossible", Tint::kRed};
      break;
    default:
      cell = {"unknown", Tint::kNone};
  }
  if (status.overflow()) cell.text += " (overflow)";
  if (status.outage()) cell.text += " (outage)";
  if (status.shadow()) cell = {cell.text + " (shadow)", Tint::kYellow};
  return cell;
}

}  // namespace

std::string StatusTable(const RuleStatuses& statuses, Palette palette) {
  Table table(
      {"RULE", "LIMIT", "LEFT", "FULL IN", "RETRY IN", "DELAY", "OUTCOME"});
  for (const v1::RuleStatus& status : statuses) {
    if (status.unlimited()) {
      table.AddRow({{status.rule(), Tint::kBold},
                    {"unlimited"},
                    {},
                    {},
                    {},
                    {},
                    OutcomeCell(status)});
      continue;
    }
    const bool delayed =
        status.delay().seconds() != 0 || status.delay().nanos() != 0;
    table.AddRow(
        {{status.rule(), Tint::kBold},
         {absl::StrCat(status.limit().tokens(), "/",
                       Text(status.limit().period()))},
         {absl::StrCat(status.remaining(), " of ", status.limit().burst())},
         {Text(status.reset_after())},
         {Text(status.retry_after())},
         {delayed ? Text(status.delay()) : ""},
         OutcomeCell(status)});
  }
  return table.ToString(palette);
}

}  // namespace tollgate::cli
