#include "client/cli/top.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/cli.h"
#include "client/cli/entries.h"
#include "client/cli/json.h"
#include "client/cli/screen.h"

namespace tollgate::cli {
namespace {

absl::Time ToTime(const google::protobuf::Timestamp& instant) {
  return absl::FromUnixSeconds(instant.seconds()) +
         absl::Nanoseconds(instant.nanos());
}

std::string TimeOfDay(absl::Time time) {
  return absl::FormatTime("%H:%M:%S UTC", time, absl::UTCTimeZone());
}

// "now", "5s", "2m5s", "3h2m", "2d3h" ago: as much as a glance needs.
std::string Age(absl::Duration age) {
  const int64_t seconds = std::max<int64_t>(absl::ToInt64Seconds(age), 0);
  if (seconds == 0) return "now";
  if (seconds < 60) return absl::StrCat(seconds, "s ago");
  if (seconds < 3600) {
    return absl::StrCat(seconds / 60, "m", seconds % 60, "s ago");
  }
  const int64_t hours = seconds / 3600;
  if (hours < 24) return absl::StrCat(hours, "h", seconds / 60 % 60, "m ago");
  return absl::StrCat(hours / 24, "d", hours % 24, "h ago");
}

std::vector<Cell> ToRow(const v1::RefusedKey& key, absl::Time now) {
  return {{absl::StrCat(key.count()), Tint::kRed},
          {key.error() == 0 ? "" : absl::StrCat("up to ", key.error())},
          {absl::StrFormat("%.1f%%", 100 * key.share())},
          {Age(now - ToTime(key.last_refused_at()))},
          {key.shadow() ? "shadow" : "", Tint::kYellow},
          {key.key().empty() ? "(one for all)" : key.key(), Tint::kBold}};
}

std::string RuleText(const v1::RefusedRule& rule, absl::Time now,
                     Palette palette) {
  // Too many is one over by `error`, and the key comes last: it may be long.
  Table table({"REFUSED", "TOO MANY BY", "SHARE", "LAST", "MODE", "KEY"});
  for (const v1::RefusedKey& key : rule.keys()) {
    table.AddRow(ToRow(key, now));
  }
  return absl::StrCat("\n",
                      Tinted(absl::StrCat(rule.domain(), " ", rule.rule()),
                             Tint::kBold, palette),
                      ": ", rule.total(), " refused since ",
                      TimeOfDay(ToTime(rule.since())), "\n",
                      rule.keys().empty()
                          ? "  by no key more than once or twice\n"
                          : table.ToString(palette));
}

bool IsLost(const absl::Status& status) {
  return !absl::IsInvalidArgument(status) && !absl::IsNotFound(status) &&
         !absl::IsFailedPrecondition(status) && !absl::IsUnimplemented(status);
}

absl::StatusOr<v1::TopRefusedResponse> Ask(const TopOptions& options) {
  v1::TopRefusedRequest request;
  request.set_domain(options.domain);
  request.set_rule(options.rule);
  request.set_max_keys(options.limit);
  return CallAdmin(options.server, request);
}

int Complain(const absl::Status& status, const Output& output) {
  output.err << "tollgate top: " << status.message() << "\n";
  if (IsLost(status)) {
    output.err << "Is tollgate-server running there? --server=HOST:PORT asks "
                  "another one.\n";
  }
  return kExitError;
}

int ShowOnce(const TopOptions& options, const Output& output) {
  const auto response = Ask(options);
  if (!response.ok()) return Complain(response.status(), output);
  if (options.json) {
    output.out << MessageJson(*response) << "\n";
  } else {
    output.out << TopText(*response, output.palette);
  }
  return kExitOk;
}

// What the screen shows while the answers may fail.
class View {
 public:
  explicit View(const Output& output) : palette_(output.palette) {}

  void Answered(const v1::TopRefusedResponse& response) {
    text_ = TopText(response, palette_);
    lost_.clear();
  }
  void Lost(const absl::Status& status, absl::Time now) {
    if (lost_.empty()) lost_since_ = now;
    lost_ = absl::StrCat(
        Tinted(absl::StrCat("unreachable since ", TimeOfDay(lost_since_)),
               Tint::kRed, palette_),
        ", trying again: ", Tinted(status.message(), Tint::kNone, palette_),
        "\n");
  }
  [[nodiscard]] std::string text() const { return lost_ + text_; }

 private:
  const Palette palette_;
  std::string text_;  // of the last answer
  std::string lost_;  // empty while there are answers
  absl::Time lost_since_;
};

int Watch(const TopOptions& options, absl::Duration interval,
          const Clock& clock, const Output& output) {
  absl::Status error;
  {
    Screen screen(output.screen_fd, output.out);
    View view(output);
    do {
      const auto response = Ask(options);
      if (response.ok()) {
        view.Answered(*response);
      } else if (IsLost(response.status())) {
        view.Lost(response.status(), absl::FromUnixNanos(clock.NowNs()));
      } else {
        error = response.status();
        break;
      }
      screen.Draw(FirstLines(view.text(), screen.Lines()));
    } while (screen.Wait(interval));
  }
  return error.ok() ? kExitOk : Complain(error, output);
}

}  // namespace

std::string TopText(const v1::TopRefusedResponse& response, Palette palette) {
  const absl::Time now = ToTime(response.as_of());
  const std::string half_life =
      absl::FormatDuration(absl::Seconds(response.half_life().seconds()));
  std::string text = absl::StrCat(
      "refused most at ", TimeOfDay(now), "; counts halve every ", half_life,
      response.hashed() ? "; keys are hashes" : "", "\n");
  if (response.missed() > 0) {
    absl::StrAppend(&text, "not counted, ever: ", response.missed(), "\n");
  }
  if (response.rules().empty()) {
    return absl::StrCat(text, "\nnobody has been refused lately\n");
  }
  if (response.rules_left_out() > 0) {
    absl::StrAppend(&text, Counted(response.rules_left_out(), "more rule"),
                    " had refusals: --domain and --rule show them\n");
  }
  for (const v1::RefusedRule& rule : response.rules()) {
    absl::StrAppend(&text, RuleText(rule, now, palette));
  }
  return text;
}

std::string FirstLines(const std::string& text, size_t lines) {
  std::vector<absl::string_view> all = absl::StrSplit(text, '\n');
  if (all.back().empty()) all.pop_back();
  if (all.size() <= lines) return text;
  const size_t missing = all.size() - lines + 1;
  all.resize(lines - 1);
  all.push_back("");
  return absl::StrCat(absl::StrJoin(all, "\n"), "(", missing,
                      " more lines: a taller terminal, --rule or --limit)\n");
}

int RunTop(const TopOptions& options, const Clock& clock,
           const Output& output) {
  const absl::StatusOr<absl::Duration> interval =
      ParseTime("--interval", options.interval);
  if (!interval.ok()) return Complain(interval.status(), output);
  if (*interval < absl::Milliseconds(100) || *interval > absl::Hours(1)) {
    return Complain(
        absl::InvalidArgumentError(absl::StrCat(
            "--interval: got ", options.interval, ", want 100ms to 1h")),
        output);
  }
  if (output.screen_fd < 0 || options.once || options.json) {
    return ShowOnce(options, output);
  }
  return Watch(options, *interval, clock, output);
}

}  // namespace tollgate::cli
