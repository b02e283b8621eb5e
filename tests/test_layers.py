"""House rules that the source shows: nothing imports upwards, torch and Streamlit keep to their rooms."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
LAYERS = [  # from the ground up: a package may import itself and what stands below it, not its neighbours on a line
    ("recsys.paths",),
    ("recsys.errors", "recsys.monitoring", "recsys.progress"),
    ("recsys.config", "recsys.storage", "recsys.machine", "recsys.runtime"),
    ("recsys.arrays", "recsys.boards", "recsys.checksums"),
    ("recsys.data",),
    ("recsys.text", "recsys.ranking"),
    ("recsys.training",),
    ("recsys.models",),
    ("recsys.checkpoints",),
    ("recsys.evaluation", "recsys.serving"),
    ("recsys", "recsys.studies", "recsys.desktop"),  # recsys itself: the Python door
    ("recsys.jobs", "recsys.verify"),
    ("recsys.cli",),
    ("recsys.__main__", "pages.server"),
    ("pages.ui",),
    ("pages.watch", "pages.compare", "pages.evaluation", "pages.inside", "pages.library", "pages.train"),
    (
        "pages.1_watch_next",
        "pages.2_compare",
        "pages.3_evaluation",
        "pages.4_inside",
        "pages.5_library",
        "pages.5_train",
    ),
    ("pages.main",),
    ("app",),
]
TORCH_LIVES_IN = ("recsys.models", "recsys.training", "recsys.serving")
PAGES_MAY_USE = (
    "recsys.errors",
    "recsys.monitoring",
    "recsys.paths",
    "recsys.progress",
    "recsys.data",
    "recsys.serving",
    "recsys.evaluation",
    "recsys.jobs",
)
WRITERS = (  # all others use `storage.replace_file`: the system kills a process that has mapped a shortened file
    "recsys.storage",  # parts, which are renamed when they are whole
    "recsys.data.prepared",  # temporary files of recsys.storage
    "recsys.data.download",  # parts
    "recsys.serving.insight.tsne",  # a temporary folder
    "recsys.training.trainer",  # the lock and the log of a run, which nobody maps
    "recsys.jobs.queue",
    "recsys.jobs.runner",
)

SOURCES = sorted([*ROOT.glob("app.py"), *ROOT.glob("pages/**/*.py"), *ROOT.glob("recsys/**/*.py")])


def test_nothing_imports_upwards():
    assert violations(upward) == []


def test_every_package_has_a_layer_and_every_layer_a_package():
    packages = {package_of(module_of(path)) for path in SOURCES if module_of(path) != "pages"}
    assert packages == {package for line in LAYERS for package in line}


def test_no_modules_import_each_other_in_a_circle():
    imported = all_imports()
    left = {module: set(used) & set(imported) - {module} for module, used in imported.items()}
    while ends := [module for module, used in left.items() if not used & set(left)]:
        for module in ends:
            del left[module]
    assert left == {}


def test_no_private_file_is_imported_from_another_package():
    def private(name, used):
        hidden = any(part.startswith("_") and not part.startswith("__") for part in used.split("."))
        return hidden and inside(used, ("recsys", "pages"))

    assert violations(private) == []


def test_torch_is_imported_only_where_models_live():
    assert violations(lambda name, used: inside(used, ("torch",)) and not inside(name, TORCH_LIVES_IN)) == []


def test_streamlit_is_imported_only_by_the_app_and_its_pages():
    assert violations(lambda name, used: inside(used, ("streamlit",)) and not inside(name, ("app", "pages"))) == []


def test_pages_reach_the_package_only_through_its_front_rooms():
    def unwanted(name, used):
        return inside(name, ("pages",)) and inside(used, ("recsys", "torch")) and not inside(used, PAGES_MAY_USE)

    assert violations(unwanted) == []


def test_files_are_replaced_and_never_written_in_place():
    found = {module_of(path): in_place(ast.parse(path.read_text("utf-8"))) for path in SOURCES}
    assert {module: calls for module, calls in found.items() if calls and module not in WRITERS} == {}
    assert found["recsys.storage"] == ["temporary.open('xb')"]


def test_the_rule_of_writing_sees_each_way_to_write_in_place():
    for code in (
        "p.write_text(t)",
        "open(p, 'w')",
        "p.open('ab')",
        "np.save(p, a)",
        "t.to_csv(p)",
        "shutil.copy(p, q)",
    ):
        assert in_place(ast.parse(code)) != [], code
    for code in ("p.read_text()", "open(p)", "p.open('rb')", "t.to_csv(index=False)", "t.to_parquet()", "a.copy(p)"):
        assert in_place(ast.parse(code)) == [], code


def test_the_layer_rule_sees_an_upward_import():
    assert upward("recsys.data.split", "recsys.models.base")
    assert upward("recsys.models.bert4rec", "recsys.evaluation.evaluate")
    assert upward("recsys.serving.insight.explain", "recsys.evaluation.results")  # neighbours
    assert upward("pages.watch.what_if", "pages.compare.tables")
    assert not upward("recsys.training.trainer", "recsys.ranking.metrics")
    assert not upward("recsys.models.bert4rec", "recsys.models.layers")
    assert imports(ast.parse("from recsys import checkpoints"), "recsys.data.split") == ["recsys.checkpoints"]
    assert imports(ast.parse("from . import evaluate"), "recsys.evaluation.report") == ["recsys.evaluation.evaluate"]


def violations(rule):
    """Lines "module imports used" for which rule(module, used) holds."""
    return [
        f"{module} imports {used}" for module, others in all_imports().items() for used in others if rule(module, used)
    ]


@cache
def all_imports():
    """Every module of the project: the modules that it imports."""
    return {module_of(path): imports(ast.parse(path.read_text("utf-8")), module_of(path)) for path in SOURCES}


def upward(module, used):
    own, other = package_of(module), package_of(used)
    return None not in (own, other) and own != other and layer(other) >= layer(own)


def layer(package):
    """The number of the line that names a package; one that no line names stands above all."""
    return next((row for row, line in enumerate(LAYERS) if package in line), len(LAYERS))


def package_of(module):
    """The folder below recsys/ or pages/, or the file that lies beside such folders; None for what is not ours."""
    first, *rest = module.split(".")
    if first not in ("recsys", "pages", "app"):
        return None
    return ".".join([first, *rest[:1]])


def inside(module, packages):
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree, module):
    """Every module that a file imports, also inside functions: `from recsys import paths` is recsys.paths."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            found += [f"{source}.{alias.name}" if is_module(source, alias.name) else source for alias in node.names]
    return found


def is_module(package, name):
    folder = ROOT.joinpath(*package.split("."))
    return (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists()


def in_place(tree):
    """Calls that write into a file under its own name, as source text."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in sorted(calls, key=lambda call: call.lineno) if writes(call)]


def writes(call):
    """Whether a call writes a file: `open` with such a mode, `write_text`, a table's or array's own way, a copy."""
    whose, _, name = ast.unparse(call.func).rpartition(".")
    if name == "open":
        mode = call.args[0 if whose else 1 :][:1] + [option.value for option in call.keywords if option.arg == "mode"]
        return any(set(literal) & set("wax+") for given in mode for literal in literals(given))
    if name in ("to_csv", "to_parquet", "to_json"):
        return bool(call.args)
    in_shutil = whose == "shutil" and name.startswith("copy")
    return (
        in_shutil
        or name in ("write_text", "write_bytes", "save_file", "open_memmap", "memmap", "tofile")
        or (whose == "np" and name.startswith("save") and "buffer" not in ast.unparse(call))
    )


def literals(node):
    """Every short text in an expression, such as both modes of "ab" if more else "wb"."""
    return [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
