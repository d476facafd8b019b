#ifndef TOLLGATE_SERVER_APP_HELP_TEXT_H_
#define TOLLGATE_SERVER_APP_HELP_TEXT_H_

// What --help says beside the flags.
namespace tollgate {

inline constexpr char kDescription[] =
    "tollgate-server answers over gRPC whether a request may go ahead now.\n"
    "Every flag may also come from the environment: TOLLGATE_RULES for "
    "--rules,\n"
    "TOLLGATE_MAX_IN_FLIGHT for --max-in-flight, and so on; a flag wins.\n"
    "TOLLGATE_STORE_PASSWORD is Redis' password, for which there is no flag.\n";

inline constexpr char kExamples[] =
    "Examples:\n"
    "  tollgate-server --rules=rules.yaml\n"
    "      on this machine only: gRPC on 8081, HTTP on 8080\n"
    "  tollgate-server --rules=/etc/tollgate/rules --listen=0.0.0.0:8081 \\\n"
    "      --http-listen=0.0.0.0:8080 --log-format=json --drain-delay=5s\n"
    "      for a fleet: a directory of rules, logs for machines, and 5 s for\n"
    "      load balancers to notice before it stops\n"
    "  tollgate-server --rules=rules.yaml "
    "--state-file=/var/lib/tollgate/state\n"
    "      a restart gives nobody a fresh burst\n"
    "  tollgate-server --rules=rules.yaml "
    "--store=redis://redis:6379 --replicas=4\n"
    "      four replicas that share each limit\n"
    "  tollgate-server --rules=rules.yaml --tls-cert=tls/tls.crt \\\n"
    "      --tls-key=tls/tls.key --tls-client-ca=tls/ca.crt\n"
    "      gRPC over TLS, for clients with a certificate of that authority\n"
    "  tollgate-server --rules=rules.yaml --listen=127.0.0.1:0 \\\n"
    "      --http-listen=off --port-file=/tmp/tollgate.ports\n"
    "      for a test: a free port, told in a file\n\n"
    "Changed rules come into force while it runs, in one step; bad ones do "
    "not,\n"
    "and /readyz and the log say why. SIGHUP loads them at once.\n\n"
    "Signals: SIGTERM or SIGINT drains and exits 0; a second one exits 1 at\n"
    "once. SIGHUP reloads the rules. Exit status 2 is a bad flag or a bad "
    "rule\n"
    "file at the start.\n";

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_HELP_TEXT_H_
