"""Holds the sources to the layer table of ARCHITECTURE.md.

Reads the table from cmake/layers.cmake, which configure enforces for links,
and applies it to #include lines. Also finds the places that read the machine's
time or sleep, outside the few files that may.

  layers_test.py ROOT               checks the tree at ROOT
  layers_test.py ROOT --self-check  plants violations and checks they are found
"""

import pathlib
import re
import sys
import tempfile

# Longest first: client/cli is a layer of its own.
FOLDERS = [
    ("server/base", "base"), ("server/limiter", "limiter"),
    ("server/headers", "headers"), ("server/rules", "rules"),
    ("server/redis", "redis"), ("server/metrics", "metrics"),
    ("server/state", "state"), ("server/envoy", "envoy"),
    ("server/net", "net"), ("server/rpc", "rpc"), ("server/http", "http"),
    ("server/status", "status"), ("server/app", "app"), ("client/cli", "cli"),
    ("client/grpc", "client_grpc"),
    ("client", "client"), ("proto", "proto"),
    # Generated from proto/, included from its root.
    ("tollgate", "proto"), ("envoy", "proto"),
]

# How each library of the table is included.
LIBRARY_HEADERS = {
    "sodium": r"sodium(\.h|/.*)",
    "gRPC": r"(grpc|grpcpp|grpc\+\+)/.*",
    "protobuf": r"google/protobuf/.*",
    "yaml-cpp": r"yaml-cpp/.*",
    "hiredis": r"hiredis/.*",
    "prometheus-cpp": r"prometheus/.*",
    "microhttpd": r"microhttpd\.h",
    "nlohmann-json": r"nlohmann/.*",
    "spdlog": r"spdlog/.*",
    "CLI11": r"CLI/.*",
    "OpenSSL": r"openssl/.*",
}

# Headers of the C++ library have no suffix; these are of the system, and the
# core does without them.
SYSTEM_HEADERS = re.compile(
    r"((unistd|fcntl|signal|poll|netdb|dirent|malloc|pthread|sched|time|errno)"
    r"\.h"
    r"|(sys|netinet|arpa|linux)/\w+\.h)")
NO_SYSTEM_HEADERS = {"limiter"}

READS = re.compile(
    r"_clock::now\s*\(|\babsl::Now\s*\(|\bclock_gettime\s*\("
    r"|\bgettimeofday\s*\(|\btime\s*\(\s*(NULL|nullptr|0|&)")
SLEEPS = re.compile(
    r"\bsleep_(for|until)\s*\(|\bSleepFor\s*\(|\b(u|nano)?sleep\s*\(")
# The client's one composition file may do both, and what runs real processes.
MAY_SLEEP = ("server/base/", "client/client.cc", "tests/abuse/", "tests/bench/",
             "tests/integration/", "tests/interop/", "tests/redis/",
             "tests/support/redis_process.h")
# These tests make real calls, and a call's deadline is an instant.
MAY_READ = MAY_SLEEP + ("tests/app/", "tests/client/", "tests/http/",
                        "tests/rpc/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def read_table(root):
  """The layers and the libraries that each layer may include."""
  text = (root / "cmake/layers.cmake").read_text()
  rows = {"LAYER": {}, "FOREIGN": {}}
  for kind, name, value in re.findall(
      r"^set\(TOLLGATE_(LAYER|FOREIGN)_(\w+) ([^)]*)\)", text, re.MULTILINE):
    rows[kind][name] = set(value.replace('"', "").split())
  missing = {layer for _, layer in FOLDERS} - set(rows["LAYER"])
  if missing:
    raise SystemExit(f"cmake/layers.cmake has no row for {sorted(missing)}")
  unknown = set().union(*rows["FOREIGN"].values()) - set(LIBRARY_HEADERS)
  if unknown:
    raise SystemExit(f"no headers known for {sorted(unknown)}: add them here")
  return rows


def layer_of(path):
  for folder, layer in FOLDERS:
    if path.startswith(folder + "/"):
      return layer
  return None


def include_problem(layer, header, angled, rows):
  """Why `layer` must not include `header`, or None."""
  owner = layer_of(header)
  if owner is not None:
    allowed = owner == layer or owner in rows["LAYER"][layer]
    return None if allowed else f"layer {owner}"
  if header.startswith("tests/"):
    return "tests"
  if header.startswith("absl/"):
    return None
  for library, pattern in LIBRARY_HEADERS.items():
    if re.fullmatch(pattern, header):
      allowed = library in rows["FOREIGN"].get(layer, set())
      return None if allowed else library
  if angled and re.fullmatch(r"[a-z_]+", header):
    return None
  if angled and SYSTEM_HEADERS.fullmatch(header):
    return "a system header" if layer in NO_SYSTEM_HEADERS else None
  return "a library that the table does not know"


def check_file(path, text, rows):
  problems = []
  layer = layer_of(path)
  code = COMMENT.sub("", text)
  if layer is not None:
    for quote, header in INCLUDE.findall(code):
      problem = include_problem(layer, header, quote == "<", rows)
      if problem:
        problems.append(f"{path}: layer {layer} must not include {header}: "
                        f"{problem}")
  for pattern, allowed in (READS, MAY_READ), (SLEEPS, MAY_SLEEP):
    for match in pattern.finditer("" if path.startswith(allowed) else code):
      problems.append(f"{path}: {match.group().strip()}...: time is an "
                      "argument, read and waited for in server/base alone")
  return problems


def check_tree(root, rows):
  problems = []
  files = 0
  for top in ("server", "client", "tests"):
    for path in sorted((root / top).rglob("*")):
      if path.suffix in (".h", ".cc"):
        files += 1
        problems += check_file(path.relative_to(root).as_posix(),
                               path.read_text(), rows)
  return files, problems


# A file, its text, and whether it must be found.
PLANTED = [
    ("server/limiter/a.cc", "#include <yaml-cpp/yaml.h>", True),
    ("server/limiter/a.cc", "# include <sodium.h>", True),
    ("server/limiter/a.cc", "#include <unistd.h>", True),
    ("server/limiter/a.cc", '#include "server/rules/rule_file.h"', True),
    ("server/limiter/a.cc", '#include "tests/support/seeds.h"', True),
    ("server/limiter/a.cc", "#include <boost/any.hpp>", True),
    ("server/limiter/a.cc", '#include "server/base/clock.h"', False),
    ("server/limiter/a.cc", "#include <vector>", False),
    ("server/limiter/a.cc", "// #include <sodium.h>", False),
    ("server/base/a.h", '#include "server/limiter/limit.h"', True),
    ("server/base/a.h", "#include <sodium.h>", False),
    ("server/limiter/a.cc", '#include "server/headers/quota.h"', True),
    ("server/headers/a.cc", '#include "server/limiter/decision.h"', False),
    ("server/headers/a.cc", "#include <google/protobuf/struct.pb.h>", True),
    ("client/a.cc", '#include "server/headers/quota.h"', False),
    ("server/rules/a.cc", "#include <yaml-cpp/yaml.h>", False),
    ("server/rules/a.cc", '#include "tollgate/v1/rate_limiter.pb.h"', True),
    ("server/rpc/a.cc", '#include "tollgate/v1/rate_limiter.pb.h"', False),
    ("server/rpc/a.cc", '#include "server/metrics/metrics.h"', True),
    ("server/state/a.cc", "#include <sodium.h>", False),
    ("server/state/a.cc", '#include "server/metrics/metrics.h"', True),
    ("server/envoy/a.cc", '#include "envoy/type/v3/ratelimit_unit.pb.h"', False),
    ("server/envoy/a.cc", "#include <grpcpp/grpcpp.h>", True),
    ("server/http/a.cc", '#include "server/envoy/envoy_json.h"', True),
    ("server/status/a.cc", "#include <nlohmann/json.hpp>", False),
    ("server/status/a.cc", '#include "server/http/http_route.h"', False),
    ("server/status/a.cc", '#include "server/rules/rule_file.h"', True),
    ("server/http/a.cc", "#include <nlohmann/json.hpp>", True),
    ("server/http/a.cc", '#include "server/net/listen_socket.h"', False),
    ("server/net/a.cc", "#include <linux/tcp.h>", False),
    ("server/net/a.cc", "#include <grpcpp/grpcpp.h>", True),
    ("server/net/a.cc", '#include "server/limiter/limit.h"', True),
    ("server/app/a.cc", '#include "client/client.h"', True),
    ("client/a.cc", '#include "client/cli/cli.h"', True),
    ("client/a.cc", "#include <CLI/CLI.hpp>", True),
    ("client/cli/a.cc", "#include <CLI/CLI.hpp>", False),
    ("client/cli/a.cc", '#include "client/client.h"', False),
    ("server/limiter/a.cc", "auto t = std::chrono::steady_clock::now();", True),
    ("server/limiter/a.cc", "auto t = absl::Now();", True),
    ("server/rpc/a.cc", "auto t = time(nullptr);", True),
    ("server/rpc/a.cc", "clock_gettime(CLOCK_MONOTONIC, &t);", True),
    ("server/app/a.cc", "gettimeofday(&t, nullptr);", True),
    ("client/a.cc", "std::this_thread::sleep_for(pause);", True),
    ("tests/limiter/a.cc", "absl::SleepFor(absl::Seconds(1));", True),
    ("tests/limiter/a.cc", "usleep(1000);", True),
    ("tests/rpc/a.cc", "nanosleep(&t, nullptr);", True),
    ("server/base/clock.cc", "clock_gettime(CLOCK_MONOTONIC, &t);", False),
    ("client/client.cc", "std::chrono::steady_clock::now();", False),
    ("client/client_core.cc", "std::chrono::steady_clock::now();", True),
    ("tests/rpc/a.cc", "std::chrono::system_clock::now() + limit;", False),
    ("tests/limiter/a.cc", "std::chrono::system_clock::now();", True),
    ("tests/integration/a.cc", "absl::SleepFor(pause);", False),
    ("tests/abuse/a.cc", "absl::SleepFor(pause);", False),
    ("tests/fuzz/a.cc", "std::chrono::steady_clock::now();", True),
    ("tests/fuzz/a.cc", "absl::SleepFor(pause);", True),
    ("tests/bench/a.cc", "std::chrono::steady_clock::now();", False),
    ("server/limiter/a.cc", "runtime(0); steady_clock_.NowNs();", False),
    ("server/limiter/a.cc", "// absl::Now() is not for us", False),
]


def self_check(rows):
  failures = 0
  for path, text, expected in PLANTED:
    with tempfile.TemporaryDirectory() as directory:
      planted = pathlib.Path(directory) / path
      planted.parent.mkdir(parents=True)
      planted.write_text(text + "\n")
      _, problems = check_tree(pathlib.Path(directory), rows)
    if bool(problems) != expected:
      failures += 1
      print(f"{path}: {text!r}: got {problems}, want "
            f"{'a problem' if expected else 'none'}")
  return failures


def main():
  root = pathlib.Path(sys.argv[1])
  rows = read_table(root)
  if "--self-check" in sys.argv[2:]:
    failures = self_check(rows)
    print(f"{len(PLANTED)} planted, {failures} judged wrongly")
    return 1 if failures else 0
  files, problems = check_tree(root, rows)
  print("\n".join(problems))
  print(f"{files} files, {len(problems)} problems")
  return 1 if problems or files == 0 else 0


if __name__ == "__main__":
  sys.exit(main())
