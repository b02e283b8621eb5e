"""S1–S10: nothing runs what it reads, secrets stay secret, and the server gives out what it should."""

import ast
import hashlib
import http.client
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import chdir, suppress
from pathlib import Path
from typing import Any

import requests

from benchmarks.reliability import malicious, packages, served, uploading
from benchmarks.reliability.bad_input import as_published, zipped
from benchmarks.reliability.promise import NOT_AUDITED, Outcome, Promise, judged, unmeasured
from recsys import checkpoints, paths
from recsys.data import datasets
from recsys.data.history_import.read import read as read_history
from recsys.errors import RecsysError
from recsys.storage import digest
from tests.data.server import serving

FORMATS = {*(".json", ".jsonl", ".safetensors", ".npz", ".zip", ".csv"), *(".md", ".png", ".svg", ".css", ".js", ".po")}


def s1() -> Outcome:
    """The syntax trees of all our files."""
    from tests.test_gates import FOLDERS, SOURCES, TRAINING, parsed, running

    found = {path.name: running(parsed(path), path.is_relative_to(TRAINING)) for path in SOURCES}
    calls = {f"{name}: {call}": False for name, some in found.items() for call in some}
    return judged(
        f"{len(SOURCES)} files in app.py and {', '.join(FOLDERS)}, {len(calls)} calls that run data",
        calls | {"": not calls},
    )


def s2() -> Outcome:
    """Everything that is read, with Python's own audit hook listening for `pickle.find_class`."""
    asked: list[str] = []
    sys.addaudithook(lambda event, given: asked.append(str(given)) if event == "pickle.find_class" else None)
    read = [name for name, load in readers() if load() is not None]
    figure = f"{len(read)} artifacts loaded, {len(asked)} classes asked for by a pickle"
    return judged(
        figure, {"no class is asked for: " + ", ".join(asked[:3]): not asked, "something was read": len(read) > 20}
    )


def readers() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every kind of file that the app reads, with what reads it."""
    from recsys.evaluation import results
    from recsys.serving import predictor
    from recsys.serving.films import themes
    from recsys.serving.insight import tsne
    from recsys.text import films
    from recsys.training.trainer import RunFolder

    name = datasets.DEFAULT_DATASET
    dataset = datasets.ensure(name)
    yield "archive", lambda: datasets.get(name)
    yield "prepared set", lambda: datasets.load(name)
    yield "film vectors", lambda: films.load_vectors(name, dataset.catalog)
    yield "themes", lambda: themes.open_index(dataset)
    for variant in predictor.trained(name):
        yield variant.name, lambda variant=variant: predictor.load(variant.name, dataset)
        yield f"map of {variant.name}", lambda variant=variant: tsne.kept(predictor.load(variant.name, dataset))
    for protocol in {protocol for data, protocol in results.available() if data == name}:
        for document in results.documents(name, protocol, report=lambda _: None):
            yield document["variant"], lambda one=document, at=protocol: results.ranks(name, at, one["variant"])
    folder = Path(tempfile.mkdtemp())
    RunFolder(folder).save({"run": {"a": 1}, "weights": {"w": __import__("torch").zeros(3)}})
    yield "resume.pt", lambda: RunFolder(folder).load()


def s3() -> Outcome:
    """Artifacts that make a file if anything in them runs, in every place where the app reads one."""
    n, run, untyped = malicious.tried()
    checks = {f"{one} ran": False for one in run} | {f"{one}, which is not our error": False for one in untyped}
    return judged(f"{n} malicious files: {len(run)} ran", checks | {"none runs": not run})


def s4() -> Outcome:
    """What lies in assets/, and how the encoder is loaded."""
    shipped = [path for path in paths.ASSETS.rglob("*") if path.is_file()]
    strange = sorted({path.suffix for path in shipped} - FORMATS)
    weights = list(paths.ASSETS.glob("checkpoints/**/*.safetensors"))
    named = [json.loads((path.parent / checkpoints.META).read_text("utf-8"))["files"][path.name] for path in weights]
    source = ast.parse((paths.REPOSITORY / "recsys" / "text" / "encoder.py").read_text("utf-8"))
    calls = [node for node in ast.walk(source) if isinstance(node, ast.Call)]
    (made,) = (call for call in calls if ast.unparse(call.func) == "SentenceTransformer")
    options = {option.arg: ast.unparse(option.value) for option in made.keywords}
    checks = {
        "only plain formats: " + ", ".join(strange): not strange,
        "every checkpoint names the SHA-256 of its weights": named == [digest(path, "sha256") for path in weights],
        "a flipped bit in film vectors is noticed": not reads_flipped_vectors(),
        "trust_remote_code is False": options.get("trust_remote_code") == "False",
        "local_files_only is True": options.get("local_files_only") == "True",
    }
    return judged(f"{len(shipped)} files in assets/, {len(weights)} of them weights", checks)


def reads_flipped_vectors() -> bool:
    """Whether the first set's film vectors are taken with one wrong bit."""
    from recsys.text import films

    texts = films.texts_fingerprint(films.film_texts(datasets.ensure(datasets.DEFAULT_DATASET).catalog))
    data = bytearray(paths.shipped_film_vectors(datasets.DEFAULT_DATASET).read_bytes())
    data[-1000] ^= 1
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, "vectors.safetensors")
        other.write_bytes(data)
        with suppress(RecsysError):
            return films.read_vectors([other], texts) is not None
    return False


NAMES = ["../out.csv", "/out.csv", "C:\\out.csv", "..\\out.csv", "a/../../out.csv", "ratings.csv/../../../out.csv"]


def s5() -> Outcome:
    """Archives whose names lead away, through every door that takes an archive."""
    diary = b"Date,Name,Year,Letterboxd URI\n2020-01-01,Heat,1995,https://boxd.it/f1\n"
    archives = {name: zipped({name: diary}) for name in NAMES}
    archives["a link"] = linked("out.csv", "/etc/passwd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archives["the same name twice"] = zipped_list([("diary.csv", diary), ("diary.csv", b"")])
    archives["two names in one"] = zipped({"diary.csv": diary, "DIARY.csv": b""})
    checks = {}
    with tempfile.TemporaryDirectory() as folder:
        inner = Path(folder, "deep", "er")
        inner.mkdir(parents=True)
        with chdir(inner):
            for name, data in archives.items():
                for load in (read_history_zip, as_published):
                    with suppress(RecsysError):
                        load(data)
                made = [str(path) for path in Path(folder).rglob("*") if path.is_file()]
                checks[f"{name}: {made}"] = not made and not Path("/out.csv").exists()
    return judged(f"{sum(checks.values())} of {len(archives)} archives write nothing, through two doors", checks)


def read_history_zip(data: bytes) -> Any:
    """As a visitor's own history."""
    return read_history("a.zip", data)


def linked(name: str, target: str) -> bytes:
    """An archive with a symbolic link in it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        link = zipfile.ZipInfo(name)
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, target)
    return made.getvalue()


def zipped_list(members: list[tuple[str, bytes]]) -> bytes:
    """An archive that may hold a name twice."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
    return made.getvalue()


V3 = hashlib.md5(b"a sentinel", usedforsecurity=False).hexdigest()
V4 = f"eyJhbGciOiJIUzI1NiJ9.{'c2VudGluZWw' * 9}.{'x' * 43}"


def s6() -> Outcome:
    """A key of the machine, while TMDB cannot be reached: everything that leaves the server, and all that it keeps."""
    datasets.ensure(datasets.DEFAULT_DATASET)
    found = {}
    for kind, key in {"v3 key": V3, "token": V4}.items():
        with tempfile.TemporaryDirectory() as folder, served.app(Path(folder), TMDB_API_KEY=key) as app:
            frames = uploading.everything(app.host)
            html = requests.get(app.address, timeout=30).content
            command = Path(f"/proc/{app.process.pid}/cmdline").read_bytes()
            secret = key.encode()
            found[f"{kind}: in frames"] = any(secret in frame for frame in frames)
            found[f"{kind}: in a page"] = secret in html
            found[f"{kind}: in the command line"] = secret in command
            found[f"{kind}: in the log"] = secret in app.log.read_bytes()
            kept = [path for path in paths.home().rglob("*") if path.is_file() and path.stat().st_size < 1 << 20]
            found[f"{kind}: in a file"] = any(secret in path.read_bytes() for path in kept)
        found[f"{kind}: in the address of a question"] = key_in_address(key)
    figure = f"{len(found)} places looked into, the key was seen in {sum(found.values())}"
    return judged(figure, {f"not {name}": not seen for name, seen in found.items()})


def key_in_address(key: str) -> bool:
    """Whether the first line of a request to TMDB holds the key."""
    from recsys.serving.films.tmdb import Key, Posters, Wanted

    asked: list[str] = []
    with serving(b"{}") as service:

        def note(request: Any) -> None:
            asked.append(request.path)
            service.behave(request)

        service.tricks = [note] * 9
        found = Posters(service.address.rpartition("/")[0], "https://images")
        found.addresses(Key(key), {1: Wanted("Heat", 1995, 949)})
    if not asked:
        raise RuntimeError("nothing was asked, so nothing can be said")
    return any(key in path for path in asked)


def s7() -> Outcome:
    """Files of visitors: where they are written, and who sees them."""
    return uploading.privacy()


def s8() -> Outcome:
    """Ask for known holes; where nobody can be asked, floors and hashes are all there is."""
    clean, said = packages.audit()
    checks = {
        "no package below its floor": not packages.too_old(),
        "every package is pinned with its hash": not packages.unpinned(packages.LOCK.read_text("utf-8")),
        "licences": not packages.unknown_licences(),
    }
    pinned = packages.pins(packages.LOCK.read_text("utf-8"))
    figure = f"{said}; {len(packages.FLOORS)} floors, {len(pinned)} packages with hashes"
    if clean is None:
        return Outcome(NOT_AUDITED, figure, tuple(name for name, holds in checks.items() if not holds))
    return judged(figure, checks | {"no hole is known": clean})


SETTINGS = {
    "server.enableXsrfProtection": True,
    "server.enableCORS": True,
    "server.enableStaticServing": False,
    "client.showErrorDetails": "none",
    "browser.gatherUsageStats": False,
    "server.address": "127.0.0.1",
}
NGINX = "tests/deploy/test_nginx.py"
HEADERS = ("content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy")


def s9() -> Outcome:
    """Settings and headers of the app itself, and the tests of deploy/nginx.conf with the system's nginx."""
    from streamlit import config

    found = {
        f"{name} = {config.get_option(name)}": config.get_option(name) == wanted for name, wanted in SETTINGS.items()
    }
    datasets.ensure(datasets.DEFAULT_DATASET)
    with tempfile.TemporaryDirectory() as folder, served.app(Path(folder)) as app:
        headers = requests.get(app.address, timeout=30).headers
    found |= {f"the app sends {name}": name in headers for name in HEADERS}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", NGINX]
    done = subprocess.run(command, cwd=paths.REPOSITORY, capture_output=True, text=True)
    passed = done.stdout.count(".") if done.returncode == 0 else 0
    found[f"{NGINX} passes"] = passed > 5
    allowed = list(config.get_option("server.allowedHosts") or [])
    found["allowedHosts is set, by the app or by the unit"] = bool(allowed) or "allowedHosts" in deployed()
    return judged(f"{len(SETTINGS)} settings, {len(HEADERS)} headers; {passed} tests behind nginx", found)


def deployed() -> str:
    """All that deploy/ says."""
    return "".join(
        path.read_text("utf-8") for path in sorted((paths.REPOSITORY / "deploy").iterdir()) if path.is_file()
    )


SIGNS = {  # of files that should not leave the server
    b"root:x:0": "/etc/passwd",
    b"st.App(": "app.py",
    b"[core]": ".git/config",
    b"maxUploadSize": "config.toml",
}
TRAVERSALS = [
    "/../../../../etc/passwd",
    "/static/../../../../etc/passwd",
    "/static/..%2f..%2f..%2fetc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/_stcore/../../etc/passwd",
    "/app/static/..%5c..%5c/app.py",
    "/app/static/../../app.py",
    "/component/x/../../../../etc/passwd",
    "/media/../../../../etc/passwd",
    "//etc/passwd",
    "/app.py",
    "/.streamlit/config.toml",
    "/.git/config",
]


def s10() -> Outcome:
    """As a user of its own that may gain nothing, over code that it cannot change."""
    if not shutil.which("setpriv") or os.geteuid():
        return unmeasured("needs setpriv, and root to start it")
    datasets.ensure(datasets.DEFAULT_DATASET)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        for path in (Path(folder), home):
            os.chown(path, 65534, 65534)
        who = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs")
        touch = f"import os; os.utime({str(paths.REPOSITORY / 'app.py')!r})"
        tried = subprocess.run([*who, sys.executable, "-c", touch], capture_output=True)
        with served.app(Path(folder), before=who, RECSYS_HOME=str(home), HOME=str(home)) as app:
            status = Path(f"/proc/{app.process.pid}/status").read_text()
            answers = {path: raw(app.host, path) for path in TRAVERSALS}
            warm = uploading.everything(app.host)
    shown = {path: kind for path, (code, body) in answers.items() if (kind := leaked(body))}
    not_refused = [path for path, (code, _) in answers.items() if code < 400]
    checks = {
        "uid is not 0": re.search(r"^Uid:\s+65534\s", status, re.MULTILINE) is not None,
        "it can gain no rights": "NoNewPrivs:\t1" in status,
        "its code cannot be written": tried.returncode != 0,
        "it serves a page": any(b"Watch next" in frame for frame in warm),
        "nothing is given out: " + ", ".join(shown): not shown,
    }
    page = f"{len(not_refused)} get the app's own page" if not_refused else "all refused"
    return judged(f"uid 65534, no new rights; {len(TRAVERSALS)} odd paths: {page}, no file is given out", checks)


def raw(host: str, path: str) -> tuple[int, bytes]:
    """The answer to a path exactly as it is."""
    name, _, port = host.partition(":")
    connection = http.client.HTTPConnection(name, int(port), timeout=30)
    try:
        connection.putrequest("GET", path, skip_host=False)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def leaked(body: bytes) -> str:
    """What kind of file a body is that should not leave the server; "" for none."""
    signs = {
        b"root:x:0": "/etc/passwd",
        b"st.App(": "app.py",
        b"[core]": ".git/config",
        b"maxUploadSize": "config.toml",
    }
    return next((kind for sign, kind in signs.items() if sign in body), "")


BARS = (
    Promise("S1", "no call that unpickles or runs data", 0.2, s1),
    Promise("S2", "no class is asked for by a pickle while every artifact is loaded", 1, s2),
    Promise("S3", "malicious artifacts: none runs", 1, s3),
    Promise("S4", "safetensors and JSON with hashes; no remote code, local files only", 0.2, s4),
    Promise("S5", "names in archives lead nowhere", 0.1, s5),
    Promise("S6", "TMDB's key is in no frame, page, log, file, command line or address", 1, s6),
    Promise("S7", "uploads leave the memory for a temporary file without a name at most; nobody sees another's", 3, s7),
    Promise("S8", "an audit of all packages; floors, licences, hashes", 0.2, s8),
    Promise("S9", "headers, origins, limits and settings for a public address", 1, s9),
    Promise("S10", "own user, read-only code, no new rights; odd paths give out no file", 1, s10),
)
