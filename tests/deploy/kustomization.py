"""What a kustomization of deploy/kubernetes builds to, by kubectl in PATH."""

import functools
import pathlib
import re
import shutil
import subprocess
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "deploy/kubernetes"


def kustomize(directory):
  """The documents that a kustomization builds to."""
  built = subprocess.run(["kubectl", "kustomize", directory],
                         capture_output=True, text=True)
  if built.returncode != 0 or built.stderr:
    raise AssertionError(f"{directory}: {built.stderr}")
  return list(yaml.safe_load_all(built.stdout))


class Kustomization:
  """A kustomization's documents, and the way around in them."""

  def __init__(self, directory):
    self.documents = kustomize(directory)

  def of_kind(self, *kinds):
    return [d for d in self.documents if d["kind"] in kinds]

  def one(self, *kinds):
    (document,) = self.of_kind(*kinds)
    return document

  @property
  def workload(self):
    return self.one("StatefulSet", "Deployment")

  @property
  def pod(self):
    return self.workload["spec"]["template"]["spec"]

  @property
  def container(self):
    (container,) = self.pod["containers"]
    return container

  @property
  def flags(self):
    return dict(arg.split("=", 1) for arg in self.container["args"])

  def probes(self):
    return {
        name: self.container[name + "Probe"]
        for name in ("startup", "readiness", "liveness")
    }


def with_components(resource, *components):
  """As somebody who uses ours in a kustomization of their own."""
  ours = pathlib.PurePath("../../deploy/kubernetes")
  with tempfile.TemporaryDirectory(dir=ROOT / "build") as directory:
    (pathlib.Path(directory) / "kustomization.yaml").write_text(
        yaml.safe_dump({
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": "tollgate",
            "resources": [str(ours / resource)],
            "components": [str(ours / "components" / c) for c in components],
        }))
    return Kustomization(pathlib.Path(directory))


def of_the_readme():
  """The README's own kustomization, with the patches that it shows."""
  page = (KUBERNETES / "README.md").read_text()
  blocks = re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)
  (whole,) = [b for b in blocks if "kind: Kustomization" in b]
  (patches,) = [b for b in blocks if b.startswith("patches:")]
  with tempfile.TemporaryDirectory() as directory:
    directory = pathlib.Path(directory)
    shutil.copytree(KUBERNETES, directory / "deploy/kubernetes")
    shutil.copy(KUBERNETES / "base/rules/rules.yaml", directory)
    (directory / "kustomization.yaml").write_text(whole + patches)
    return Kustomization(directory)


@functools.lru_cache
def kustomizations():
  """Every one that people apply, by a name."""
  return {
      "base": Kustomization(KUBERNETES / "base"),
      "prometheus": with_components("base", "prometheus-operator"),
      "redis": Kustomization(KUBERNETES / "overlays/redis"),
      "readme": of_the_readme(),
      "tls": Kustomization(KUBERNETES / "overlays/tls"),
      "all": with_components("overlays/redis", "tls", "status-page",
                             "prometheus-operator"),
  }
