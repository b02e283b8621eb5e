"""Rules for imports and for writing files, checked in the source."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
LAYERS = [  # lowest first; a package may import itself and packages of lower layers, but not of its own layer
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
    ("recsys", "recsys.studies", "recsys.desktop"),  # recsys: the Python interface
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
        "pages.6_train",
    ),
    ("pages.main",),
    ("app",),
]
PACKAGES_WITH_TORCH = ("recsys.models", "recsys.training", "recsys.serving")
PACKAGES_FOR_PAGES = (
    "recsys.errors",
    "recsys.monitoring",
    "recsys.paths",
    "recsys.progress",
    "recsys.data",
    "recsys.serving",
    "recsys.evaluation",
    "recsys.jobs",
)
WRITERS = (  # the others use `storage.replace_file`, because a process that has mapped a shortened file is killed
    "recsys.storage",  # partial files, which are renamed when they are complete
    "recsys.data.prepared",  # temporary files of recsys.storage
    "recsys.data.download",  # partial files
    "recsys.serving.insight.tsne",  # a temporary folder
    "recsys.training.trainer",  # the lock and the log of a run, which are never mapped
    "recsys.jobs.queue",
    "recsys.jobs.runner",
)

SOURCES = sorted([*ROOT.glob("app.py"), *ROOT.glob("pages/**/*.py"), *ROOT.glob("recsys/**/*.py")])


def test_no_package_imports_a_higher_layer():
    assert violations(upward) == []


def test_layers_contain_exactly_the_packages_of_the_project():
    packages = {package_of(module_of(path)) for path in SOURCES if module_of(path) != "pages"}
    assert packages == {package for line in LAYERS for package in line}


def test_imports_have_no_cycles():
    imported = all_imports()
    remaining = {module: set(used) & set(imported) - {module} for module, used in imported.items()}
    while leaves := [module for module, used in remaining.items() if not used & set(remaining)]:
        for module in leaves:
            del remaining[module]
    assert remaining == {}


def test_no_private_file_is_imported_from_another_package():
    def is_violation(name, used):
        is_private = any(part.startswith("_") and not part.startswith("__") for part in used.split("."))
        return is_private and inside(used, ("recsys", "pages"))

    assert violations(is_violation) == []


def test_torch_is_imported_only_by_packages_with_models():
    assert violations(lambda name, used: inside(used, ("torch",)) and not inside(name, PACKAGES_WITH_TORCH)) == []


def test_streamlit_is_imported_only_by_the_app_and_its_pages():
    assert violations(lambda name, used: inside(used, ("streamlit",)) and not inside(name, ("app", "pages"))) == []


def test_pages_import_only_the_packages_for_pages():
    def is_violation(name, used):
        return inside(name, ("pages",)) and inside(used, ("recsys", "torch")) and not inside(used, PACKAGES_FOR_PAGES)

    assert violations(is_violation) == []


def test_only_writers_write_files_in_place():
    calls_by_module = {module_of(path): in_place(ast.parse(path.read_text("utf-8"))) for path in SOURCES}
    assert {module: calls for module, calls in calls_by_module.items() if calls and module not in WRITERS} == {}
    assert calls_by_module["recsys.storage"] == ["temporary.open('xb')"]


def test_calls_that_write_in_place_are_detected():
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


def test_imports_of_higher_layers_are_detected():
    assert upward("recsys.data.split", "recsys.models.base")
    assert upward("recsys.models.bert4rec", "recsys.evaluation.evaluate")
    assert upward("recsys.serving.insight.explain", "recsys.evaluation.results")  # the same layer
    assert upward("pages.watch.what_if", "pages.compare.tables")
    assert not upward("recsys.training.trainer", "recsys.ranking.metrics")
    assert not upward("recsys.models.bert4rec", "recsys.models.layers")
    assert imports(ast.parse("from recsys import checkpoints"), "recsys.data.split") == ["recsys.checkpoints"]
    assert imports(ast.parse("from . import evaluate"), "recsys.evaluation.report") == ["recsys.evaluation.evaluate"]


def violations(rule):
    """Return a line "module imports used" for each import for which `rule(module, used)` is true."""
    return [
        f"{module} imports {used}" for module, others in all_imports().items() for used in others if rule(module, used)
    ]


@cache
def all_imports():
    """Return the imported modules of each module of the project."""
    return {module_of(path): imports(ast.parse(path.read_text("utf-8")), module_of(path)) for path in SOURCES}


def upward(module, used):
    """Return whether an import leads to another package of the same or a higher layer."""
    package, used_package = package_of(module), package_of(used)
    is_internal = None not in (package, used_package)
    return is_internal and package != used_package and layer(used_package) >= layer(package)


def layer(package):
    """Return the number of the layer of a package. A package without a layer is above all layers."""
    return next((row for row, line in enumerate(LAYERS) if package in line), len(LAYERS))


def package_of(module):
    """Return the package of a module, such as "recsys.data", or None if it is not a module of the project."""
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
    """Return the modules that a file imports, also inside functions. `from recsys import paths` is recsys.paths."""
    modules = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            modules += [f"{source}.{alias.name}" if is_module(source, alias.name) else source for alias in node.names]
    return modules


def is_module(package, name):
    folder = ROOT.joinpath(*package.split("."))
    return (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists()


def in_place(tree):
    """Return the calls that write a file without replacing it, as source text."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in sorted(calls, key=lambda call: call.lineno) if writes(call)]


def writes(call):
    """Return whether a call writes a file: `open`, `write_text`, a method of a table or an array, or a copy."""
    receiver, _, name = ast.unparse(call.func).rpartition(".")
    if name == "open":
        mode = call.args[0 if receiver else 1 :][:1] + [
            option.value for option in call.keywords if option.arg == "mode"
        ]
        return any(set(literal) & set("wax+") for argument in mode for literal in literals(argument))
    if name in ("to_csv", "to_parquet", "to_json"):
        return bool(call.args)
    in_shutil = receiver == "shutil" and name.startswith("copy")
    return (
        in_shutil
        or name in ("write_text", "write_bytes", "save_file", "open_memmap", "memmap", "tofile")
        or (receiver == "np" and name.startswith("save") and "buffer" not in ast.unparse(call))
    )


def literals(node):
    """Return the string constants of an expression, such as both modes of "ab" if append else "wb"."""
    return [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
