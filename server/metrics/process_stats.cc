#include "server/metrics/process_stats.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace tollgate {
namespace {

// The fields of /proc/self/stat from the third on (the second, the program's
// name, may hold spaces). proc(5) numbers them from 1.
std::vector<double> StatFields() {
  std::ifstream file("/proc/self/stat");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 1));
  std::string state;
  rest >> state;
  std::vector<double> fields = {0, 0, 0};  // 1 to 3: not numbers
  double value = 0;
  while (rest >> value) fields.push_back(value);
  return fields;
}

double BootTimeSeconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  while (file >> word) {
    double value = 0;
    if (word == "btime" && file >> value) return value;
  }
  return 0;
}

double OpenFds() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end;
       !error && it != end; it.increment(error)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // without the one that lists them
}

}  // namespace

ProcessStats ReadProcessStats() {
  // proc(5): 14 utime, 15 stime, 22 starttime, 24 rss.
  const std::vector<double> fields = StatFields();
  ProcessStats stats;
  stats.open_fds = OpenFds();
  if (fields.size() < 24) return stats;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  stats.cpu_seconds = (fields[13] + fields[14]) / ticks;
  stats.start_time_seconds = BootTimeSeconds() + fields[21] / ticks;
  stats.resident_memory_bytes = fields[23] * page;
  return stats;
}

}  // namespace tollgate
