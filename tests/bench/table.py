"""Prints the results of core_bench as a table: table.py RESULTS.json."""

import json
import sys

KINDS = {
    "BM_BareLookup": "bare look-up, keys",
    "BM_Decide": "decision, keys",
    "BM_DecideHotKey": "decision on one hot key",
    "BM_DecideRules": "decision, 1000 keys, rules that apply",
    "BM_DecideAmongRules": "decision, 1000 keys, one rule of",
    "BM_DecideAmongPatterns": "the same, rules with lists and wildcards",
}


def main():
  with open(sys.argv[1]) as results:
    runs = json.load(results)["benchmarks"]
  best = {}  # of the repetitions, the one that was disturbed least
  for run in runs:
    name = run["run_name"].split("/")[0]
    if run["run_type"] == "iteration" and name in KINDS:
      # Google Benchmark divides the time by the iterations of all threads.
      each = run["real_time"] * run["threads"]
      if run["run_name"] not in best or each < best[run["run_name"]][0]:
        best[run["run_name"]] = each, run
  bare = {}
  print(f"{'what':<40}{'':>10}{'threads':>9}{'ns each':>9}{'to bare':>9}"
        f"{'allocs':>8}")
  for each, run in best.values():
    name, *parts = run["run_name"].split("/")
    argument = parts[0] if parts and parts[0].isdigit() else ""
    threads = run["threads"]
    if name == "BM_BareLookup":
      bare[argument, threads] = each
    compared = bare.get((argument, threads)) if name == "BM_Decide" else None
    ratio = f"{each / compared:.2f}" if compared else ""
    print(f"{KINDS[name]:<40}{argument:>10}{threads:>9}{each:>9.1f}{ratio:>9}"
          f"{run['allocs']:>8.3g}")


if __name__ == "__main__":
  main()
