"""What deploy/kubernetes builds to, judged by Kubernetes' schemas and by us.

    manifests_test.py SERVER_BINARY TOLLGATE_BINARY PROJECT_ROOT

kubectl must be in PATH: see with_kubectl.
"""

import copy
import functools
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import kubernetes_validate
import yaml

from kustomization import KUBERNETES, kustomizations

SERVER, TOLLGATE, ROOT = (pathlib.Path(arg).resolve() for arg in sys.argv[1:4])
# The oldest that has all that the manifests use, and one of today.
VERSIONS = ("1.29", "1.32", kubernetes_validate.latest_version())
# How long writing the state file may take after the last answer.
SAVE_S = 20

# Of the Prometheus operator's types there is no schema to be had; these are
# the fields that ours use, from the operator's reference.
MONITOR_FIELDS = {"jobLabel", "selector", "endpoints"}
ENDPOINT_FIELDS = {"port", "path", "interval", "scrapeTimeout"}


@functools.lru_cache
def help_text():
  return subprocess.run([SERVER, "--help"], capture_output=True, text=True,
                        check=True).stdout


def known_flags():
  return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", help_text(), re.M))


def seconds(text):
  """The duration flags of our manifests are in whole seconds."""
  return int(re.fullmatch(r"(\d+)s", text).group(1))


def validate(document, version):
  kubernetes_validate.validate(document, version, strict=True)


def of_each(test):
  """Runs a test of one kustomization with every one of them."""

  @functools.wraps(test)
  def run(self):
    for name, kustomization in kustomizations().items():
      with self.subTest(name):
        test(self, kustomization)

  return run


class Manifests(unittest.TestCase):

  @of_each
  def test_are_valid_to_the_last_field(self, kustomization):
    for document in kustomization.documents:
      if document["apiVersion"].startswith("monitoring.coreos.com/"):
        continue
      for version in VERSIONS:
        validate(document, version)

  def test_misspelt_fields_are_found(self):
    workload = copy.deepcopy(kustomizations()["base"].workload)
    container = workload["spec"]["template"]["spec"]["containers"][0]
    container["readinesProbe"] = container.pop("readinessProbe")
    with self.assertRaises(kubernetes_validate.ValidationError):
      validate(workload, VERSIONS[0])

  @of_each
  def test_pods_keep_to_the_restricted_profile(self, kustomization):
    pod, container = kustomization.pod, kustomization.container
    labels = kustomization.one("Namespace")["metadata"]["labels"]
    self.assertEqual(labels["pod-security.kubernetes.io/enforce"],
                     "restricted")
    self.assertTrue(pod["securityContext"]["runAsNonRoot"])
    self.assertGreater(pod["securityContext"]["runAsUser"], 0)
    self.assertEqual(pod["securityContext"]["seccompProfile"],
                     {"type": "RuntimeDefault"})
    self.assertEqual(
        container["securityContext"], {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        })
    for field in "hostNetwork", "hostPID", "hostIPC", "initContainers":
      self.assertNotIn(field, pod)
    self.assertFalse(any("hostPort" in p for p in container["ports"]))
    safe = {"configMap", "secret", "emptyDir", "projected", "downwardAPI",
            "persistentVolumeClaim", "csi", "ephemeral"}
    for volume in pod["volumes"]:
      self.assertLessEqual(set(volume) - {"name"}, safe)

  @of_each
  def test_pods_get_nothing_that_they_do_not_need(self, kustomization):
    self.assertFalse(kustomization.pod["automountServiceAccountToken"])
    account = kustomization.one("ServiceAccount")
    self.assertFalse(account["automountServiceAccountToken"])
    self.assertEqual(kustomization.pod["serviceAccountName"],
                     account["metadata"]["name"])
    # TOLLGATE_PORT and the like would be taken for flags.
    self.assertFalse(kustomization.pod["enableServiceLinks"])
    self.assertLessEqual(
        {e["name"] for e in kustomization.container.get("env", [])},
        {"TOLLGATE_STORE_PASSWORD"})

  @of_each
  def test_flags_are_flags_of_the_server(self, kustomization):
    self.assertLessEqual(set(kustomization.flags), known_flags())

  @of_each
  def test_the_server_takes_the_flags_as_they_are(self, kustomization):
    self.assertEqual(len(kustomization.flags),
                     len(kustomization.container["args"]))
    tried = subprocess.run(
        [SERVER, *self.without_files(kustomization.container["args"])],
        capture_output=True, text=True, timeout=30)
    # The rules are not there; all that was read before was taken.
    self.assertEqual(tried.returncode, 2, tried.stderr)
    self.assertIn("/nonexistent", tried.stderr)

  @staticmethod
  def without_files(args):
    """With rules that are not there, and what would touch this machine off."""
    kept = [a for a in args if not a.startswith(("--rules=", "--state-file="))]
    return [*kept, "--rules=/nonexistent/rules"]

  @of_each
  def test_every_mounted_file_is_where_a_flag_looks(self, kustomization):
    mounts = {m["mountPath"]: m for m in kustomization.container[
        "volumeMounts"]}
    for mount in mounts.values():
      self.assertNotIn("subPath", mount)
      self.assertNotIn("subPathExpr", mount)
    volumes = {v["name"] for v in kustomization.pod["volumes"]}
    volumes |= {c["metadata"]["name"] for c in kustomization.workload[
        "spec"].get("volumeClaimTemplates", [])}
    self.assertEqual({m["name"] for m in mounts.values()}, volumes)
    for flag, value in kustomization.flags.items():
      if value.startswith("/"):
        place = pathlib.PurePath(value)
        self.assertTrue(
            {str(place), str(place.parent)} & set(mounts), (flag, value))

  @of_each
  def test_only_the_state_can_be_written(self, kustomization):
    for mount in kustomization.container["volumeMounts"]:
      self.assertEqual(mount.get("readOnly", False),
                       mount["name"] != "state", mount)

  @of_each
  def test_probes_ask_grpc_health_on_a_port_without_tls(self, kustomization):
    flags = kustomization.flags
    where = "--health-listen" if "--tls-cert" in flags else "--listen"
    port = int(flags[where].rsplit(":", 1)[1])
    for name, probe in kustomization.probes().items():
      self.assertEqual(probe["grpc"]["port"], port, name)
    liveness = kustomization.probes()["liveness"]
    readiness = kustomization.probes()["readiness"]
    # Out of balance long before it is killed.
    self.assertGreater(
        liveness["periodSeconds"] * liveness["failureThreshold"],
        3 * readiness["periodSeconds"] * readiness["failureThreshold"])

  @of_each
  def test_ports_are_those_that_the_flags_open(self, kustomization):
    opened = {int(v.rsplit(":", 1)[1])
              for k, v in kustomization.flags.items() if k.endswith("listen")}
    self.assertEqual(
        {p["containerPort"] for p in kustomization.container["ports"]},
        opened)
    for flag, value in kustomization.flags.items():
      if flag.endswith("listen"):
        self.assertTrue(value.startswith("0.0.0.0:"), value)
    names = {p["name"] for p in kustomization.container["ports"]}
    for service in kustomization.of_kind("Service"):
      for port in service["spec"]["ports"]:
        self.assertIn(port["targetPort"], names)

  @of_each
  def test_the_grace_is_longer_than_all_that_happens_in_it(self, kustomization):
    flags = kustomization.flags
    command = kustomization.container["lifecycle"]["preStop"]["exec"][
        "command"]
    self.assertEqual(command[0], "/bin/sleep")
    grace = kustomization.pod["terminationGracePeriodSeconds"]
    self.assertGreaterEqual(
        grace,
        int(command[1]) + seconds(flags["--drain-delay"]) +
        seconds(flags["--drain-grace"]) + SAVE_S)

  @of_each
  def test_memory_holds_all_buckets(self, kustomization):
    resources = kustomization.container["resources"]
    self.assertEqual(resources["requests"]["memory"],
                     resources["limits"]["memory"])
    self.assertNotIn("cpu", resources["limits"])
    self.assertEqual(resources["limits"]["memory"], "1Gi")
    buckets = int(kustomization.flags["--max-buckets"])
    connections, base = 10_000, 256 << 20
    self.assertLess(56 * buckets + 18_000 * connections + base, 1 << 30)
    for claim in kustomization.workload["spec"].get("volumeClaimTemplates",
                                                    []):
      self.assertEqual(claim["spec"]["resources"]["requests"]["storage"],
                       "1Gi")
      self.assertLess(2 * 26 * buckets, 1 << 30)

  @of_each
  def test_selectors_select_the_pods(self, kustomization):
    labels = kustomization.workload["spec"]["template"]["metadata"]["labels"]
    selectors = [s["spec"]["selector"]
                 for s in kustomization.of_kind("Service")]
    selectors += [kustomization.one(kind)["spec"][field]["matchLabels"]
                  for kind, field in (("PodDisruptionBudget", "selector"),
                                      ("NetworkPolicy", "podSelector"))]
    selectors.append(kustomization.workload["spec"]["selector"][
        "matchLabels"])
    for spread in kustomization.pod.get("topologySpreadConstraints", []):
      selectors.append(spread["labelSelector"]["matchLabels"])
    for selector in selectors:
      self.assertTrue(selector)
      self.assertLessEqual(selector.items(), labels.items())

  @of_each
  def test_everything_is_in_the_namespace(self, kustomization):
    name = kustomization.one("Namespace")["metadata"]["name"]
    for document in kustomization.documents:
      if document["kind"] != "Namespace":
        self.assertEqual(document["metadata"]["namespace"], name)

  @of_each
  def test_nobody_connects_who_is_not_named(self, kustomization):
    policy = kustomization.one("NetworkPolicy")["spec"]
    self.assertEqual(set(policy["policyTypes"]), {"Ingress", "Egress"})
    opened = [(p["port"], bool(rule["from"]))
              for rule in policy["ingress"] for p in rule["ports"]]
    self.assertEqual(opened, [(8081, True), (8080, True)])
    store = kustomization.flags.get("--store", "")
    port = int(store.rsplit(":", 1)[1]) if store else None
    self.assertEqual({p["port"] for rule in policy["egress"]
                      for p in rule["ports"]}, {port, 53} if port else set())

  @of_each
  def test_the_rules_are_good_and_keep_their_name(self, kustomization):
    rules = kustomization.one("ConfigMap")
    (volume,) = [v for v in kustomization.pod["volumes"] if "configMap" in v]
    # With a hash in the name, changed rules would restart the server.
    self.assertEqual(rules["metadata"]["name"], "tollgate-rules")
    self.assertEqual(volume["configMap"]["name"], "tollgate-rules")
    with tempfile.TemporaryDirectory() as directory:
      for name, text in rules["data"].items():
        (pathlib.Path(directory) / name).write_text(text)
      subprocess.run([TOLLGATE, "validate", directory], check=True,
                     capture_output=True)

  def test_state_on_a_volume_is_for_one_replica(self):
    base = kustomizations()["base"].workload
    self.assertEqual((base["kind"], base["spec"]["replicas"]),
                     ("StatefulSet", 1))
    services = kustomizations()["base"].of_kind("Service")
    headless = [s["metadata"]["name"] for s in services
                if s["spec"].get("clusterIP") == "None"]
    self.assertEqual([base["spec"]["serviceName"]], headless)

  def test_replicas_on_redis_are_spread_and_scale(self):
    redis = kustomizations()["redis"]
    scaler = redis.one("HorizontalPodAutoscaler")["spec"]
    self.assertEqual(redis.workload["kind"], "Deployment")
    self.assertNotIn("replicas", redis.workload["spec"])
    self.assertEqual(scaler["minReplicas"], 3)
    self.assertEqual(scaler["scaleTargetRef"]["name"],
                     redis.workload["metadata"]["name"])
    self.assertEqual(redis.workload["spec"]["strategy"]["rollingUpdate"],
                     {"maxSurge": 1, "maxUnavailable": 0})
    spread = {s["topologyKey"]
              for s in redis.pod["topologySpreadConstraints"]}
    self.assertIn("kubernetes.io/hostname", spread)
    self.assertNotIn("--state-file", redis.flags)
    # The password is none of the flags, which others see.
    (password,) = redis.container["env"]
    self.assertEqual(password, {
        "name": "TOLLGATE_STORE_PASSWORD",
        "valueFrom": {"secretKeyRef": {"name": "tollgate-redis",
                                       "key": "password", "optional": True}}})
    self.assertEqual(redis.flags["--replicas"], str(scaler["minReplicas"]))

  def test_tls_asks_clients_for_certificates_that_a_secret_has(self):
    for name in "tls", "all", "readme":
      tls = kustomizations()[name]
      self.assertLessEqual({"--tls-cert", "--tls-key", "--tls-client-ca"},
                           set(tls.flags))
      (secret,) = [v["secret"] for v in tls.pod["volumes"] if "secret" in v]
      # For the pod's group, which fsGroup makes theirs, and nobody else.
      self.assertEqual(secret, {"secretName": "tollgate-tls",
                                "defaultMode": 0o440})
      # People bring it: no key is in a repository.
      self.assertEqual(tls.of_kind("Secret"), [])
      for service in tls.of_kind("Service"):
        self.assertEqual({p["name"]: p["appProtocol"]
                          for p in service["spec"]["ports"]}["grpc"], "https")

  def test_the_readme_says_how_to_name_identities(self):
    readme = kustomizations()["readme"]
    self.assertIn("--tls-allow-identity", readme.flags)
    self.assertIn("--admin-identity", readme.flags)
    self.assertRegex(readme.container["image"], r"^registry\.")

  def test_the_port_for_probes_is_closed_to_pods(self):
    tls = kustomizations()["tls"]
    port = int(tls.flags["--health-listen"].rsplit(":", 1)[1])
    for rule in tls.one("NetworkPolicy")["spec"]["ingress"]:
      self.assertNotIn(port, [p["port"] for p in rule["ports"]])
    for service in tls.of_kind("Service"):
      self.assertNotIn("health", [p["targetPort"]
                                  for p in service["spec"]["ports"]])

  def test_refused_keys_are_shown_to_those_who_ask_for_it(self):
    pages = {name: k.flags["--status-page"]
             for name, k in kustomizations().items()}
    self.assertEqual(pages.pop("all"), "on")
    self.assertEqual(set(pages.values()), {"off"})

  def test_prometheus_finds_the_pods_and_the_rules(self):
    operator = kustomizations()["prometheus"]
    monitor = operator.one("ServiceMonitor")["spec"]
    self.assertEqual(set(monitor), MONITOR_FIELDS)
    (service,) = [
        s for s in operator.of_kind("Service")
        if monitor["selector"]["matchLabels"].items() <=
        s["metadata"]["labels"].items()
    ]
    self.assertEqual(service["metadata"]["labels"][monitor["jobLabel"]],
                     "tollgate")
    (endpoint,) = monitor["endpoints"]
    self.assertEqual(set(endpoint), ENDPOINT_FIELDS)
    self.assertIn(endpoint["port"],
                  {p["name"] for p in service["spec"]["ports"]})
    source = ROOT / "deploy/prometheus/tollgate.rules.yaml"
    self.assertEqual(operator.one("PrometheusRule")["spec"],
                     yaml.safe_load(source.read_text()))

  def test_the_prometheus_rule_is_as_the_script_makes_it(self):
    made = subprocess.run([ROOT / "deploy/prometheus/to-prometheus-rule"],
                          capture_output=True, text=True, check=True).stdout
    kept = KUBERNETES / "components/prometheus-operator/prometheus-rule.yaml"
    self.assertEqual(made, kept.read_text())


if __name__ == "__main__":
  unittest.main(argv=[sys.argv[0]], verbosity=2)
