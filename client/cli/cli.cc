#include "client/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <utility>

#include "client/cli/bench.h"
#include "client/cli/bench_flags.h"
#include "client/cli/buckets.h"
#include "client/cli/check.h"
#include "client/cli/convert.h"
#include "client/cli/explain.h"
#include "client/cli/rules.h"
#include "client/cli/tls_flags.h"
#include "client/cli/top.h"
#include "client/cli/validate.h"
#include "server/base/clock.h"

namespace tollgate::cli {
namespace {

constexpr char kServerHelp[] = "Where tollgate-server listens for gRPC";

// What the command line asked for; empty if it asked for nothing.
using Action = std::function<int(const Output& output)>;

void AddRequest(CLI::App& command, RequestOptions& options) {
  command.add_option("KEY=VALUE", options.entries,
                     "The entries that describe the request");
  command
      .add_option("--descriptor", options.descriptors,
                  "One more descriptor, as \"KEY=VALUE KEY=VALUE\"; may be "
                  "given again")
      ->expected(1)
      ->take_all();
}

CLI::Option* AddDomain(CLI::App& command, std::string& domain) {
  return command.add_option("--domain", domain, "The namespace of rules");
}

CLI::Option* AddServer(CLI::App& command, std::string& address,
                       std::string& timeout, TlsFlags& tls) {
  command.add_option("--tls-ca", tls.ca,
                     "Ask over TLS a server that this authority signed (PEM)");
  command.add_option("--tls-cert", tls.cert,
                     "Our certificate, if the server wants one (PEM)");
  command.add_option("--tls-key", tls.key, "The key of --tls-cert (PEM)");
  command.add_option("--tls-server-name", tls.server_name,
                     "The name in the server's certificate, if it is not that "
                     "of --server");
  command.add_option("--timeout", timeout, "How long to wait")
      ->default_val("1s");
  return command.add_option("--server", address, kServerHelp)
      ->default_val("127.0.0.1:8081");
}

// How Envoy-format files are read, as the server has it.
void AddLoad(CLI::App& command, LoadOptions& load) {
  command
      .add_option_function<std::string>(
          "--envoy-algorithm",
          [&load](const std::string& name) {
            load.envoy_algorithm = FindEnvoyAlgorithm(name);
          },
          "What the limits of Envoy-format files are")
      ->check(CLI::IsMember({"token_bucket", "fixed_window"}))
      ->default_str("token_bucket");
  command.add_flag("--merge-domains", load.merge_domains,
                   "Several Envoy-format files may have one domain");
}

void AddCheck(CLI::App& app, Action& action, CheckOptions& options) {
  CLI::App* command = app.add_subcommand(
      "check", "Ask for one decision: may this request go ahead?");
  AddRequest(*command, options.request);
  AddDomain(*command, options.request.domain)->default_val(kDefaultDomain);
  command
      ->add_option("--cost", options.request.cost,
                   "The tokens to take; 0 looks and takes none")
      ->default_val(1);
  AddServer(*command, options.server, options.timeout, options.tls);
  command->add_flag("--json", options.json,
                    "Print the response as JSON, with its source");
  command->footer(
      "Exit status: 0 allowed, 1 refused or impossible, 2 no answer.\n\n"
      "Examples:\n"
      "  tollgate check --domain=shop user=ana\n"
      "  tollgate check --server=tollgate:8081 --tls-ca=ca.crt user=ana\n"
      "  tollgate check --domain=shop --cost=0 user=ana   "
      "# look, take nothing\n"
      "  tollgate check --domain=shop user=ana \\\n"
      "      --descriptor \"ip=192.0.2.1 endpoint=/login\" --json");
  command->callback([&] {
    action = [&options](const Output& output) {
      return RunCheck(options, output);
    };
  });
}

void AddExplain(CLI::App& app, Action& action, ExplainOptions& options) {
  CLI::App* command = app.add_subcommand(
      "explain", "Show which rules apply to a request, and why others do not");
  AddRequest(*command, options.request);
  AddDomain(*command, options.request.domain);
  command->add_option("--cost", options.request.cost, "The tokens to take")
      ->default_val(1);
  CLI::Option* rules = command->add_option(
      "--rules", options.rules,
      "Explain by these files instead of a server's: a file or a directory");
  AddServer(*command, options.server.address, options.server.timeout,
            options.server.tls)
      ->excludes(rules);
  AddLoad(*command, options.load);
  command->add_flag("--json", options.json,
                    "Print the ExplainResponse as JSON");
  command->footer(
      "Rules are in the order of the file, which is the order in which they "
      "are "
      "asked;\nall of them must allow. A bucket is named by the entries that "
      "form its key. Nothing\nis taken. Without --domain, that of the files if "
      "they have only one, and\n\"default\" at a server. Rules in mode off are "
      "not in force, so they are not shown.\n"
      "Exit status: 0 explained, 2 not: mistakes in the files, no answer.\n\n"
      "Examples:\n"
      "  tollgate explain --rules=rules.yaml user=ana endpoint=/login\n"
      "  tollgate explain --server=127.0.0.1:8081 --domain=shop user=ana\n"
      "  tollgate explain --rules=rules.yaml user=ana --cost=10 \\\n"
      "      --descriptor \"ip=192.0.2.1 endpoint=/search\" --json");
  command->callback([&] {
    action = [&options](const Output& output) {
      return RunExplain(options, output);
    };
  });
}

void AddRules(CLI::App& app, Action& action, RulesOptions& options) {
  CLI::App* command = app.add_subcommand(
      "rules", "List the rules in force at a server, or those of files");
  AddDomain(*command, options.domain)->description("Only this one's rules");
  CLI::Option* rules = command->add_option(
      "--rules", options.rules,
      "List these files' rules instead of a server's: a file or a directory");
  AddServer(*command, options.server.address, options.server.timeout,
            options.server.tls)
      ->excludes(rules);
  AddLoad(*command, options.load);
  command->add_flag("--json", options.json,
                    "Print the GetRulesResponse as JSON");
  command->footer(
      "Rules in mode off are not in force, so they are not listed. Two sets of "
      "rules that\nmean the same have the same hash: it is the one in the "
      "metric tollgate_rules_info.\n"
      "Exit status: 0 listed, 2 not: mistakes in the files, no answer.\n\n"
      "Examples:\n"
      "  tollgate rules\n"
      "  tollgate rules --domain=shop --server=127.0.0.1:8081 --json\n"
      "  tollgate rules --rules=/etc/tollgate/rules");
  command->callback([&] {
    action = [&options](const Output& output) {
      return RunRules(options, output);
    };
  });
}

void AddTop(CLI::App& app, Action& action, TopOptions& options) {
  CLI::App* command =
      app.add_subcommand("top", "Watch which keys each rule refuses most");
  AddDomain(*command, options.domain)->description("Only this one's rules");
  command->add_option("--rule", options.rule, "Only the rules of this name");
  command->add_option("--limit", options.limit, "Keys shown for each rule")
      ->check(CLI::Range(1, 1000))
      ->default_val(10);
  command
      ->add_option("--interval", options.interval,
                   "How often to ask again, 100ms to 1h")
      ->default_val("2s");
  AddServer(*command, options.server.address, options.server.timeout,
            options.server.tls);
  command->add_flag("--once", options.once, "Print the tables once and end");
  command->add_flag("--json", options.json,
                    "Print one TopRefusedResponse as JSON and end");
  command->footer(
      "Refreshes until Ctrl-C on a terminal, and goes on while the server is "
      "away; prints\nonce elsewhere. The ten rules with the most refusals are "
      "shown. Refusals lose half\ntheir weight in each half-life of the server "
      "(--top-half-life), so counts are of the\nrecent past. A count may be "
      "too "
      "high where TOO MANY BY says so, and is never too low.\nMODE shadow: the "
      "rule only would have refused. Where a server keeps hashes\n"
      "(--top-refused=hashed), equal hashes are equal keys.\n"
      "Exit status: 0 shown, or ended by a signal; 2 no answer.\n\n"
      "Examples:\n"
      "  tollgate top\n"
      "  tollgate top --domain=shop --rule=login --limit=50 --interval=1s\n"
      "  tollgate top --once --server=127.0.0.1:8081 | head\n"
      "  tollgate top --json");
  command->callback([&] {
    action = [&options](const Output& output) {
      const SystemClock clock;
      return RunTop(options, clock, output);
    };
  });
}

// What `peek` and `reset` have in common.
CLI::App* AddBucketCommand(CLI::App& app, const std::string& name,
                           const std::string& description,
                           BucketOptions& options) {
  CLI::App* command = app.add_subcommand(name, description);
  AddRequest(*command, options.request);
  AddDomain(*command, options.request.domain)->default_val(kDefaultDomain);
  command->add_option("--rule", options.rule,
                      "Only the bucket of this rule; without it, of each rule "
                      "that applies");
  AddServer(*command, options.server.address, options.server.timeout,
            options.server.tls);
  command->add_flag("--json", options.json, "Print the response as JSON");
  return command;
}

void AddPeek(CLI::App& app, Action& action, BucketOptions& options) {
  CLI::App* command = AddBucketCommand(
      app, "peek", "Show the buckets that a request selects, as they are",
      options);
  command->footer(
      "Takes nothing.\n"
      "Exit status: 0 shown, 2 no answer.\n\n"
      "Examples:\n"
      "  tollgate peek --domain=shop user=ana\n"
      "  tollgate peek --domain=shop user=ana --rule=per-user --json");
  command->callback([&] {
    action = [&options](const Output& output) {
      return RunPeek(options, output);
    };
  });
}

void AddReset(CLI::App& app, Action& action, BucketOptions& options) {
  CLI::App* command = AddBucketCommand(
      app, "reset", "Make the buckets that a request selects full again",
      options);
  command->footer(
      "For a client who was refused by mistake: what it spent is forgotten. "
      "See first which\nbuckets that are: tollgate peek with the same words.\n"
      "Exit status: 0 done, also if no bucket was there; 2 no answer.\n\n"
      "Examples:\n"
      "  tollgate reset --domain=shop user=ana\n"
      "  tollgate reset --domain=shop user=ana --rule=login");
  command->callback([&] {
    action = [&options](const Output& output) {
      return RunReset(options, output);
    };
  });
}

void AddValidate(CLI::App& app, Action& action, ValidateOptions& options) {
  CLI::App* command = app.add_subcommand(
      "validate", "Read rule files and report every mistake");
  command
      ->add_option("PATH", options.paths,
                   "A rule file, or a directory of *.yaml files")
      ->required();
  AddLoad(*command, options.load);
  command->add_flag("--json", options.json, "Print the result as JSON");
  command->footer(
      "Each path is read on its own, as tollgate-server --rules=PATH would.\n"
      "Exit status: 0 all valid, 1 a mistake was found, 2 no such file.\n\n"
      "Examples:\n"
      "  tollgate validate rules.yaml\n"
      "  tollgate validate /etc/tollgate/rules --json");
  command->callback([&] {
    action = [&options](const Output& output) {
      return RunValidate(options, output);
    };
  });
}

void AddBench(CLI::App& app, Action& action, BenchOptions& options) {
  CLI::App* command = app.add_subcommand(
      "bench", "Load the service and report decisions per second and latency");
  command->add_option("--server", options.server, kServerHelp)
      ->default_val("127.0.0.1:8081");
  AddBenchFlags(*command, options);
  command->callback([&] {
    action = [&options](const Output& output) {
      const SystemClock clock;
      return RunBench(options, clock, output.out, output.err);
    };
  });
}

void AddConvert(CLI::App& app, Action& action, ConvertOptions& options) {
  CLI::App* command = app.add_subcommand(
      "convert", "Print Envoy-format rule files as native rules");
  command
      ->add_option("PATH", options.paths,
                   "An Envoy-format rule file, or a directory of them")
      ->required();
  AddDomain(*command, options.domain)
      ->description("Only this one, where there are several");
  AddLoad(*command, options.load);
  command->footer(
      "A native file has one domain, so --domain chooses where there are "
      "several. What the\nnative language says differently stands as a "
      "comment that begins with \"differs:\".\nWithout such a comment, a "
      "request with one descriptor whose entries are those of\na path is "
      "decided the same.\n"
      "Exit status: 0 printed, 2 not: mistakes in the files, several "
      "domains.\n\n"
      "Examples:\n"
      "  tollgate convert config.yaml > rules.yaml\n"
      "  tollgate convert config/ --domain=edge > edge.yaml");
  command->callback([&] {
    action = [&options](const Output& output) {
      return RunConvert(options, output);
    };
  });
}

void AddVersion(CLI::App& app, Action& action) {
  app.add_subcommand("version", "Print the version")->callback([&] {
    action = [](const Output& output) {
      output.out << "tollgate " << TOLLGATE_VERSION << "\n";
      return kExitOk;
    };
  });
}

}  // namespace

int RunCli(const std::vector<std::string>& args, const Output& output) {
  CLI::App app("Asks the Tollgate rate limiter, and looks after its rules.",
               "tollgate");
  app.require_subcommand(0, 1);  // so that an unknown one is named
  app.footer(
      "Each command explains itself: tollgate check --help\n"
      "Colours are for terminals only, and not where NO_COLOR is set.\n\n"
      "Examples:\n"
      "  tollgate check --domain=shop user=ana\n"
      "  tollgate validate rules.yaml\n"
      "  tollgate explain --rules=rules.yaml user=ana\n"
      "  tollgate top --domain=shop\n"
      "  tollgate bench --domain=shop --duration=5s");
  Action action;
  CheckOptions check;
  ExplainOptions explain;
  RulesOptions rules;
  TopOptions top;
  BucketOptions buckets;
  ValidateOptions validate;
  ConvertOptions convert;
  BenchOptions bench;
  AddCheck(app, action, check);
  AddExplain(app, action, explain);
  AddRules(app, action, rules);
  AddTop(app, action, top);
  AddPeek(app, action, buckets);
  AddReset(app, action, buckets);
  AddValidate(app, action, validate);
  AddConvert(app, action, convert);
  AddBench(app, action, bench);
  AddVersion(app, action);
  // CLI11 reports by exceptions; they go no further than this.
  try {
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, output.out, output.err) == 0 ? kExitOk : kExitError;
  }
  if (!action) {
    output.err << "want a command: see tollgate --help\n";
    return kExitError;
  }
  return action(output);
}

}  // namespace tollgate::cli
