"""What no change may add: code that runs data, packages with known vulnerabilities, licences that nobody has read."""

import ast
import email.message
import json
import re
from importlib import metadata
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from benchmarks import packages
from recsys.paths import REPOSITORY

FOLDERS = {name: sorted(REPOSITORY.glob(f"{name}/**/*.py")) for name in ("pages", "recsys", "benchmarks")}
SHIPPED = [REPOSITORY / "app.py", *FOLDERS["pages"], *FOLDERS["recsys"]]
SOURCES = [*SHIPPED, *FOLDERS["benchmarks"]]
RUNS_DATA = re.compile(
    r"""
    \b(_?pickle|cPickle|dill|cloudpickle|jsonpickle|joblib|shelve|marshal|read_pickle|to_pickle|PackageImporter)\b
    | (?<![\w.])(eval|exec)\(
    | \byaml\.(load|unsafe_load|full_load)\(
    | \btorch\.(hub|jit\.load)\b | \bfrom\ torch\ import\ (load|hub)\b
    | \btorch\.load\((?!.*\bweights_only=True)
    | \ballow_pickle=(?!False) | \bweights_only=(?!True) | \btrust_remote_code=(?!False)
    | \bpersist=(?!None|False)  # Streamlit's cache on disk is a pickle
    """,
    re.VERBOSE,
)

REQUIREMENTS = [Requirement(line) for line in (REPOSITORY / "requirements.txt").read_text("utf-8").split("\n") if line]
FLOORS = {  # package: the lowest version, and the vulnerabilities that it fixes
    "torch": ("2.10.0", "CVE-2025-32434, CVE-2026-24747: weights_only=True could be circumvented"),
    "streamlit": ("1.54.0", "CVE-2022-35918, CVE-2023-27494, CVE-2024-42474, CVE-2026-33682"),
    "starlette": ("1.1.0", "CVE-2026-48818 (Windows)"),
    "python-multipart": ("0.0.27", "CVE-2026-42561"),
}
LICENCES = {  # all allow use, changes and redistribution; MPL-2.0 requires its own files to stay open, which they do
    *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0"),
    *("CNRI-Python", "ISC", "MIT", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Zlib"),
}
SPELLINGS = {  # names of licences in packages without an SPDX expression
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
NVIDIA = ("nvidia-", "cuda-")  # libraries of NVIDIA with its own terms, which PyTorch for Linux requires
PIN = re.compile(r"^([\w.-]+)==([^\s;]+)(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}\b")


def test_nothing_runs_what_it_reads():
    lines = {path: path.read_text("utf-8").splitlines() for path in SOURCES}
    assert [(path.name, line) for path in SOURCES for line in lines[path] if RUNS_DATA.search(line)] == []
    loading = {path.parent for path in SOURCES for line in lines[path] if "torch.load" in line}
    assert loading == {REPOSITORY / "recsys" / "training"}  # for the state of a training that goes on


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "import dill",
        "from cloudpickle import loads",
        "from joblib import load",
        "import sklearn.externals.joblib",
        "import shelve",
        "import marshal",
        "def late():\n    import pickle",
        "importlib.import_module('pickle')",
        "__import__('pickle')",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=flag)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "torch.load(path, weights_only=flag)",
        "from torch import load",
        "torch.hub.load('owner/repository', 'model')",
        "from torch import hub",
        "import torch.hub",
        "torch.jit.load(path)",
        "pd.read_pickle(path)",
        "from pandas import read_pickle",
        "frame.to_pickle(path)",
        "st.cache_data(persist='disk')",
        "st.cache_data(persist=True)",
        "SentenceTransformer(name, trust_remote_code=True)",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.SafeLoader)",
        "eval(text)",
        "exec(text)",
    ],
)
def test_the_ban_sees_each_way_to_run_data(code):
    assert RUNS_DATA.search(code)


@pytest.mark.parametrize(
    "code",
    [
        "torch.load(path, weights_only=True)",
        "model.eval()",
        "np.load(path, allow_pickle=False)",
        "re.compile(text)",
        "yaml.safe_load(t)",
    ],
)
def test_the_ban_leaves_the_rest_alone(code):
    assert not RUNS_DATA.search(code)


def test_asserts_do_nothing_but_narrow_a_type():
    """`python -O` leaves them out, so nothing may depend on one."""
    nodes = [node for path in SHIPPED for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    tests = [node.test for node in nodes if isinstance(node, ast.Assert)]
    assert [ast.unparse(test) for test in tests if not narrows(test)] == []


def test_the_rule_of_asserts_sees_one_that_does_more():
    assert narrows(ast.parse("found is not None", mode="eval").body)
    assert narrows(ast.parse("isinstance(node, Dict)", mode="eval").body)
    for does_more in ("size <= LARGEST", "queue.pop() is not None", "path.exists()"):
        assert not narrows(ast.parse(does_more, mode="eval").body)


@pytest.mark.parametrize("name", FLOORS)
def test_no_package_is_below_its_floor(name):
    lowest, vulnerabilities = FLOORS[name]
    assert Version(metadata.version(name)) >= Version(lowest), vulnerabilities


def shipped():
    """Return requirements.txt and everything that it requires on this machine, {name: distribution}."""
    packages, waiting = {}, list(REQUIREMENTS)
    while waiting:
        name = canonicalize_name(waiting.pop().name)
        if name not in packages:
            packages[name] = metadata.distribution(name)
            needs = map(Requirement, packages[name].requires or [])
            waiting += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return packages


def licences(package):
    """Return the SPDX names of all licences in the metadata of a package. Unknown spellings are unchanged."""
    if expression := package.get("License-Expression"):
        return set(re.split(r"\s+(?:AND|OR)\s+", expression.translate(str.maketrans("", "", "()"))))
    kinds = [line.split(" :: ")[-1] for line in package.get_all("Classifier") or [] if line.startswith("License ::")]
    kinds = kinds or re.split(r"\s+(?:AND|OR)\s+", package.get("License", "none").strip().partition("\n")[0])
    return {SPELLINGS.get(kind, kind) for kind in kinds}


def test_all_shipped_packages_have_permissive_licences():
    packages = {name: package for name, package in shipped().items() if not name.startswith(NVIDIA)}
    assert {"torch", "streamlit", "starlette", "numpy"} <= set(packages)
    unknown = {name: licences(package.metadata) - LICENCES for name, package in packages.items()}
    assert {name: kinds for name, kinds in unknown.items() if kinds} == {}


def test_an_unknown_licence_is_named():
    package = email.message.Message()
    package["License-Expression"] = "(MIT OR GPL-3.0-only) AND BSD-3-Clause"
    assert licences(package) - LICENCES == {"GPL-3.0-only"}
    assert licences(email.message.Message()) - LICENCES == {"none"}


def unpinned(lock):
    """Return requirements that a lock file does not pin, and its packages without a hash."""
    pins = {(canonicalize_name(name), version): HASH.findall(rest) for name, version, rest in PIN.findall(lock)}
    required = {(canonicalize_name(need.name), str(need.specifier).removeprefix("==")) for need in REQUIREMENTS}
    return [*sorted(required - set(pins)), *(f"{name} has no hash" for (name, _), hashes in pins.items() if not hashes)]


def test_the_lock_file_has_a_hash_of_everything_that_is_required():
    lock = packages.LOCK.read_text("utf-8")
    assert unpinned(lock) == []
    assert "://" not in lock  # the package index is not part of it
    assert unpinned(lock.replace("streamlit==", "streamlit==0.")) != []
    assert unpinned("numpy==1.0 \\\n    --hash=md5:0\n")[-1] == "numpy has no hash"


def test_an_audit_that_could_not_be_made_is_not_called_clean(monkeypatch, tmp_path, capsys):
    def audit(printed, error=""):
        done = SimpleNamespace(stdout=printed, stderr=error)
        monkeypatch.setattr(packages, "subprocess", SimpleNamespace(run=lambda *command, **options: done))
        return packages.main(), capsys.readouterr().out

    program = tmp_path / "pip-audit"
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    hole = {"name": "a", "version": "1", "vulns": [{"id": "CVE-0000-1"}]}
    assert audit(json.dumps({"dependencies": [hole]})) == (1, "audited: a 1: CVE-0000-1\n")
    sound = json.dumps({"dependencies": [hole | {"vulns": []}]})
    assert audit(sound) == (0, "audited: no vulnerability is known in 1 packages\n")
    assert audit("", "a line\nno such host") == (0, "not audited: no such host\n")


def narrows(test):
    """Whether an assert's condition tells a type checker something and asks for nothing else."""
    if isinstance(test, ast.Compare):
        (operator, *_), (other, *_) = test.ops, test.comparators
        plain = not any(isinstance(node, ast.Call) for node in ast.walk(test))
        return plain and isinstance(operator, ast.IsNot) and isinstance(other, ast.Constant) and other.value is None
    return isinstance(test, ast.Call) and ast.unparse(test.func) == "isinstance"
