#ifndef TOLLGATE_TESTS_STATE_LIVES_H_
#define TOLLGATE_TESTS_STATE_LIVES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "server/limiter/limiter.h"
#include "server/state/state_transfer.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {

inline const HashKey kLifeKey = {{1, 2, 3}};

// A rule for each algorithm, named after it and keyed by an entry of that name,
// that lets ten in an hour.
inline std::vector<Rule> OneOfEach() {
  std::vector<Rule> rules;
  for (const absl::string_view name : AlgorithmNames()) {
    Rule rule = MakeRule(std::string(name), {std::string(name)}, {PerHour(10)});
    rule.algorithm = FindAlgorithm(name);
    if (name == "leaky_bucket") {
      rule.limits[0] = Holding(rule.limits[0], absl::Nanoseconds(1));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

// One process's limiter, as a state file knows it.
class Life {
 public:
  explicit Life(int64_t now_ns, std::vector<Rule> rules = OneOfEach())
      : clock_(now_ns),
        limiter_(clock_, LimiterOptions{.stripes = 2, .hash_key = kLifeKey}) {
    SetRules(limiter_, std::move(rules));
  }

  [[nodiscard]] std::string Save() {
    std::string file;
    const auto count = state::WriteState(
        limiter_, clock_, kLifeKey, [&file](absl::string_view bytes) {
          file.append(bytes.data(), bytes.size());
          return absl::OkStatus();
        });
    if (!count.ok()) std::abort();
    return file;
  }
  // What a process would do with the file.
  state::RestoreReport Restore(const std::string& file) {
    const auto source = [&file](uint64_t offset, char* out, size_t size) {
      if (offset >= file.size()) return size_t{0};
      size = std::min<size_t>(size, file.size() - offset);
      std::memcpy(out, file.data() + offset, size);
      return size;
    };
    if (!state::ReadHeader(source).ok()) return {};
    return state::RestoreState(source, limiter_);
  }
  bool Ask(const std::string& algorithm, const std::string& who) {
    return AskFor(limiter_, {{algorithm, who}}).allowed();
  }
  // How many of cost 1 pass now.
  int Drain(const std::string& algorithm, const std::string& who) {
    int count = 0;
    while (count < 100 && Ask(algorithm, who)) ++count;
    return count;
  }

  FakeClock& clock() { return clock_; }
  Limiter& limiter() { return limiter_; }

 private:
  FakeClock clock_;
  Limiter limiter_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_STATE_LIVES_H_
