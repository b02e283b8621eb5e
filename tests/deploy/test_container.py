from recsys.paths import REPOSITORY


def test_the_documented_build_keeps_the_health_check():
    lines = (REPOSITORY / "deploy" / "Containerfile").read_text("utf-8").splitlines()
    (build,) = (line for line in lines if "podman build" in line)
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    assert "--format docker" in build  # podman ignores HEALTHCHECK in its default format
