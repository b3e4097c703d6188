"""A Kubernetes control plane of processes, for the tests beside this file: etcd, kube-apiserver with RBAC, kube-schedulers. There are no
kubelets: "bound" is a pod with a node's name."""

import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "examples/kube-scheduler/deploy"

PATIENCE = 90  # seconds, for what takes one on a machine with nothing else to do
MASTER, SCHEDULER, SECOND = "master-token", "scheduler-token", "second-token"
PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/"

# Where the kinds of the manifest are created.
KINDS = {
    "ServiceAccount": "/api/v1/namespaces/kube-system/serviceaccounts",
    "ConfigMap": "/api/v1/namespaces/kube-system/configmaps",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings",
    "Deployment": "/apis/apps/v1/namespaces/kube-system/deployments",
    "StatefulSet": "/apis/apps/v1/namespaces/kube-system/statefulsets",
    "Service": "/api/v1/namespaces/kube-system/services",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def request(url, token=None, method="GET", body=None, kind="application/json"):
    """(status, text); status 0: nobody answers."""
    headers = {"Content-Type": kind} if body is not None else {}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = body.encode() if isinstance(body, str) else None if body is None else json.dumps(body).encode()
    # The certificates are those that the servers made for themselves, in this directory, a moment ago.
    context = ssl._create_unverified_context()
    try:
        asked = urllib.request.Request(url, data=data, headers=headers, method=method)
        with urllib.request.urlopen(asked, context=context, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except OSError as error:
        return 0, str(error)


def until(what, holds, seconds=PATIENCE):
    """What holds() returned when it was true. If it is not in time, the test ends."""
    start = time.monotonic()
    while True:
        if said := holds():
            print(f"{time.monotonic() - start:6.2f} s  {what}", flush=True)
            return said
        if time.monotonic() - start > seconds:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def check(what, holds):
    if not holds:
        raise AssertionError(what)
    print(f"          {what}", flush=True)


def account(token, *groups):
    """A line of the token file: the service account of the manifests, in more groups."""
    groups = ",".join(("system:serviceaccounts", "system:serviceaccounts:kube-system", *groups))
    return f'{token},system:serviceaccount:kube-system:schedq-scheduler,second,"{groups}"\n'


class Cluster:
    """An API server with its etcd, and what starts beside them."""

    def __init__(self, options, work):
        self.options = options
        self.work = work
        self.running = []
        self.url = f"https://127.0.0.1:{free_port()}"

    def start(self, name, *command, environment=None):
        with open(self.work / f"{name}.log", "wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=self.work,
                                       env=environment or os.environ)
        self.running.append(process)
        return process

    def stop(self):
        for process in reversed(self.running):
            process.kill()
            process.wait()

    def control_plane(self, *arguments, tokens=""):
        """Starts it. arguments are more ones of kube-apiserver, tokens more lines of its token file."""
        client, peer = free_port(), free_port()
        self.etcd = f"http://127.0.0.1:{client}"
        self.start("etcd", self.options.bin / "etcd", "--data-dir", self.work / "etcd", "--log-level", "warn",
                   "--listen-client-urls", self.etcd, "--advertise-client-urls", self.etcd,
                   "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                   "--initial-cluster", f"default=http://127.0.0.1:{peer}")
        key = self.work / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        known = self.work / "tokens.csv"
        known.write_text(f"{MASTER},master,master,system:masters\n{SCHEDULER},system:kube-scheduler,scheduler\n{account(SECOND)}{tokens}")
        self.start("kube-apiserver", self.options.bin / "kube-apiserver", "--etcd-servers", self.etcd,
                   "--bind-address", "127.0.0.1", "--secure-port", self.url.rpartition(":")[2], "--cert-dir", self.work / "certificates",
                   "--token-auth-file", known, "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24",
                   "--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", key,
                   "--service-account-signing-key-file", key, "--disable-admission-plugins", "ServiceAccount", *arguments)
        until("the API server is ready", lambda: request(self.url + "/readyz", MASTER)[0] == 200)

    def kubeconfig(self, token):
        path = self.work / f"{token}.conf"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "here", "cluster": {"server": self.url, "insecure-skip-tls-verify": True}}],
            "users": [{"name": "scheduler", "user": {"token": token}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "scheduler"}}]}))
        return path

    def scheduler(self, name, engine):
        """A scheduler that answers."""
        return self.answering(
            name, SCHEDULER, "--kubeconfig", self.kubeconfig(SCHEDULER), "--schedq-engine", engine, "--leader-elect-lease-duration", "4s",
            "--leader-elect-renew-deadline", "3s", "--leader-elect-retry-period", "500ms")

    def answering(self, name, token, *arguments):
        config, port = self.kubeconfig(token), free_port()
        process = self.start(name, self.options.scheduler.resolve(), "--authentication-kubeconfig", config, "--authorization-kubeconfig",
                             config, "--bind-address", "127.0.0.1", "--secure-port", str(port), "--v=2", *arguments)
        process.url = f"https://127.0.0.1:{port}"
        process.name = name
        until(f"{name}: /healthz answers ok without a token",
              lambda: request(process.url + "/healthz") == (200, "ok") or process.poll() is not None)
        check(f"{name} runs", process.poll() is None)
        return process

    def ask(self, path, method="GET", body=None, kind="application/json"):
        status, text = request(self.url + path, MASTER, method, body, kind)
        if status not in (200, 201, 202):
            raise AssertionError(f"{method} {path}: {status} {text}")
        return json.loads(text)

    def node(self, name, cpu):
        self.ask(NODES, "POST", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"pool": name}}})
        self.ask(f"{NODES}/{name}/status", "PATCH", {"status": {
            "capacity": {"cpu": cpu, "memory": "8Gi", "pods": "200"}, "allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "200"},
            "conditions": [{"type": "Ready", "status": "True"}]}}, "application/merge-patch+json")
        # A new node has the taint "not ready". The controller manager would take it away; there is none here.
        self.ask(f"{NODES}/{name}", "PATCH", {"spec": {"taints": None}}, "application/merge-patch+json")

    def pod(self, name, cpu="10m", **spec):
        self.ask(PODS, "POST", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
            "containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}], **spec}})

    def bound(self):
        """Pod name -> node name."""
        return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in self.ask(PODS)["items"] if pod["spec"].get("nodeName")}

    def waits(self, name):
        """Whether the scheduler has said that the pod fits nowhere."""
        conditions = self.ask(f"{PODS}/{name}")["status"].get("conditions", [])
        return any(its["type"] == "PodScheduled" and its.get("reason") == "Unschedulable" for its in conditions)

    def apply(self, name):
        """Creates what a manifest says."""
        for document in (DEPLOY / name).read_text().split("\n---\n"):
            kind = re.search(r"^kind: (\w+)$", document, re.MULTILINE)[1]
            path, made = KINDS[kind], re.search(r"^metadata:\n(?:  .*\n)*?  name: (\S+)$", document, re.MULTILINE)[1]
            there = request(f"{self.url}{path}/{made}", MASTER)[0] == 200
            self.ask(f"{path}/{made}" if there else path, "PUT" if there else "POST", document, "application/yaml")
        print(f"          {name} is applied", flush=True)

    def given(self, token):
        """The arguments that the manifests give to the scheduler, with its configuration, in a file, and a kubeconfig, which the client
        of a pod does not need."""
        deployment = self.ask(KINDS["Deployment"] + "/schedq-scheduler")
        given = self.ask(KINDS["ConfigMap"] + "/schedq-scheduler")["data"]["scheduler.yaml"].rstrip()
        if "\nclientConnection:" not in given:
            given += "\nclientConnection:"
        config = self.work / f"{token}.yaml"
        config.write_text(f"{given}\n  kubeconfig: {self.kubeconfig(token)}\n")
        return [argument.replace("/etc/schedq-scheduler/scheduler.yaml", str(config))
                for argument in deployment["spec"]["template"]["spec"]["containers"][0]["args"]]

    def leader(self, lease="kube-scheduler"):
        status, text = request(self.url + LEASES + lease, MASTER)
        return json.loads(text)["spec"].get("holderIdentity", "") if status == 200 else ""


def metric(text, name, **labels):
    """The sum of the samples of this name that have these labels."""
    total = 0.0
    for line in text.splitlines():
        match = re.fullmatch(re.escape(name) + r"(?:\{(.*)\})? (\S+)", line)
        if match and all(f'{label}="{value}"' in (match[1] or "") for label, value in labels.items()):
            total += float(match[2])
    return total


def metrics(scheduler):
    status, text = request(scheduler.url + "/metrics", MASTER)
    return text if status == 200 else ""


def add_options(parser):
    parser.add_argument("--bin", type=lambda path: pathlib.Path(path).resolve(), required=True, help="where etcd and kube-apiserver are")
    parser.add_argument("--scheduler", type=pathlib.Path, required=True, help="the program")
    parser.add_argument("--logs", type=pathlib.Path, required=True, help="a directory for what the programs say")


def run(options, test):
    """The exit status of a test of a cluster that begins empty. The programs' logs are kept."""
    options.logs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="schedq-kube.") as work:
        cluster = Cluster(options, pathlib.Path(work))
        try:
            test(cluster)
        except AssertionError as error:
            print(f"FAILED: {error}")
            for log in sorted(pathlib.Path(work).glob("*.log")):
                print(f"---- {log.name}")
                print("\n".join(log.read_text(errors="replace").splitlines()[-12:]))
            return 1
        finally:
            cluster.stop()
            for log in pathlib.Path(work).glob("*.log"):
                shutil.copy(log, options.logs)
    print("passed")
    return 0
