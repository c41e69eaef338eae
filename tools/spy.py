"""Start the real lcm-spy with all our message types: ``python -m tools.spy [--lcm-url URL] [--jar-only]``.

lcm-spy looks for types on its class path, to which it adds $CLASSPATH. So this tool compiles the types of
lcmtypes/ (Java package as the files say) and lcmtypes/mit/ (which have none: Java package ``mit``) into
build/lcmtypes.jar and puts that on CLASSPATH. lcm-spy tells types apart by fingerprint, and two types with
the same fields share one: estop/reset and MIT's parameter request/response show under one of the two names.
"""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JAR = ROOT / "build" / "lcmtypes.jar"
NAMES_ENTRY = "META-INF/lcm-files"
GET_JDK = "apt-get install default-jdk"


class SpyError(Exception):
    """Something the user has to put right; the text says what, and how."""


def lcm_files(types_dir: Path) -> list[Path]:
    """All type files: the native ones, then MIT's."""
    return sorted(types_dir.glob("*.lcm")) + sorted((types_dir / "mit").glob("*.lcm"))


def need_program(name: str) -> str:
    """The program's path, or an error with the command that installs it."""
    path = shutil.which(name)
    if path is None:
        raise SpyError(f"{name} not found; run: {GET_JDK}")
    return path


def need_lcm(part: str) -> Path:
    """A file that the installed lcm package brings along, e.g. share/java/lcm.jar."""
    spec = importlib.util.find_spec("lcm")
    path = Path(spec.origin if spec and spec.origin else "").parent.parent / part
    if not path.exists():
        raise SpyError(f"no lcm with {part}; run: {sys.executable} -m pip install --force-reinstall lcm")
    return path


def run(*command: str | Path) -> str:
    """Run a program; its output (both streams), or an error that quotes it."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    output = done.stdout + done.stderr
    if done.returncode:
        raise SpyError(f"{Path(command[0]).name} failed (exit code {done.returncode}):\n{output.strip()}")
    return output


def java_release(java: str) -> int:
    """Feature release (8, 11, 17, ...) of a java or javac."""
    found = re.search(r'(?:version "|javac )(?:1\.)?(\d+)', run(java, "-version"))
    if found is None:
        raise SpyError(f"{java} -version gives no version number; run: {GET_JDK}")
    return int(found.group(1))


def is_fresh(jar: Path, files: Sequence[Path], names: str, release: int) -> bool:
    """Whether the jar holds exactly these files, none edited since, in a form that this java can load."""
    if not jar.exists() or any(f.stat().st_mtime > jar.stat().st_mtime for f in files):
        return False
    try:
        with zipfile.ZipFile(jar) as archive:
            classes = [n for n in archive.namelist() if n.endswith(".class")]
            built_for = max(int.from_bytes(archive.read(n)[6:8], "big") - 44 for n in classes)
            return archive.read(NAMES_ENTRY).decode() == names and built_for <= release
    except (zipfile.BadZipFile, KeyError, ValueError):
        return False


def build_jar(types_dir: Path, jar: Path) -> bool:
    """Bring the jar up to date; whether it had to be built."""
    files = lcm_files(types_dir)
    if not files:
        raise SpyError(f"no .lcm files in {types_dir}")
    names = "".join(f"{f.relative_to(types_dir).as_posix()}\n" for f in files)
    release = java_release(need_program("java"))
    if is_fresh(jar, files, names, release):
        return False
    javac, lcm_jar = need_program("javac"), need_lcm("share/java/lcm.jar")
    release = min(release, java_release(javac))  # lcm-spy runs `java`, which may be older than `javac`
    lcm_gen = Path(sys.executable).parent / "lcm-gen"
    with tempfile.TemporaryDirectory() as scratch:
        source, classes = Path(scratch, "java"), Path(scratch, "classes")
        source.mkdir()
        classes.mkdir()
        for folder in (types_dir, types_dir / "mit"):  # apart: lcm-gen carries packages over to later files
            if group := [f for f in files if f.parent == folder]:
                run(lcm_gen, "--java", "--jpath", source, "--jdefaultpkg", "mit", *group)
        options = ["-nowarn", "-proc:none", "-encoding", "UTF-8", "--release", str(release)]
        run(javac, *options, "-cp", lcm_jar, "-d", classes, *sorted(source.rglob("*.java")))
        jar.parent.mkdir(parents=True, exist_ok=True)
        unfinished = jar.with_name(f"{jar.name}.{os.getpid()}")
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(NAMES_ENTRY, names)
            for path in sorted(classes.rglob("*.class")):
                archive.write(path, path.relative_to(classes).as_posix())
        unfinished.replace(jar)
    return True


def need_screen() -> None:
    """lcm-spy is a window: on Linux it needs DISPLAY and a java that is not the headless one."""
    if not sys.platform.startswith("linux"):
        return
    if not os.environ.get("DISPLAY"):
        raise SpyError("no DISPLAY: lcm-spy opens a window; use a desktop, or log in again with: ssh -X HOST")
    home = Path(need_program("java")).resolve().parent.parent
    if (home / "lib").is_dir() and not any((home / "lib").rglob("libawt_xawt.so")):
        raise SpyError(f"the java in {home} is headless and cannot open a window; run: {GET_JDK}")


def main(argv: Sequence[str] | None = None) -> int:
    """Build the jar if needed, then become lcm-spy."""
    parser = argparse.ArgumentParser(prog="python -m tools.spy", description="lcm-spy with our message types")
    parser.add_argument("--lcm-url", help="LCM network to watch (default: LCM's own, or $LCM_DEFAULT_URL)")
    parser.add_argument("--jar-only", action="store_true", help="build build/lcmtypes.jar and stop")
    args = parser.parse_args(argv)
    try:
        if not args.jar_only:
            need_program("java")
            need_screen()
        built = build_jar(ROOT / "lcmtypes", JAR)
        print(f"{JAR}: {'built' if built else 'up to date'}")
        if args.jar_only:
            return 0
        print("(lcm-spy's ClassDiscoverer errors about its own jars do no harm)", flush=True)
        spy = need_lcm("bin/lcm-spy")
    except SpyError as error:
        print(f"spy: {error}", file=sys.stderr)
        return 2
    path = os.pathsep.join(p for p in (str(JAR), os.environ.get("CLASSPATH")) if p)
    url = ["--lcm-url", args.lcm_url, "--title-url"] if args.lcm_url else []
    os.execve(spy, [str(spy), *url], {**os.environ, "CLASSPATH": path})  # same process, so signals reach java


if __name__ == "__main__":
    sys.exit(main())
