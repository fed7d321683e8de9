#!/usr/bin/env python3
"""Writes THIRD-PARTY-NOTICES.md: what dpbi is built from, and under which licences.

With --check nothing is written; it fails if the file does not agree with Cargo.lock. The same
Cargo.lock gives the same bytes everywhere. It reads the sources of every crate, also of those for
other platforms, which cargo fetches where they are missing.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "THIRD-PARTY-NOTICES.md"

# The licences that we accept, the first choice first, and words by which to know their texts.
MARKS = {
    "MIT": "obtaining a copy of this software and associated documentation files",
    "Apache-2.0": "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION",
    "Apache-2.0 WITH LLVM-exception": "LLVM Exceptions to the Apache 2.0 License",
    "BSD-3-Clause": "Neither the name",
    "Zlib": "This software is provided 'as-is'",
    "Unicode-3.0": "UNICODE LICENSE V3",
}
STANDARD = {"MIT": "LICENSE-MIT", "Apache-2.0": "LICENSE-APACHE"}
GRANT = "Permission is hereby granted"
LICENCE_FILE = re.compile("licen[sc]e|copying|copyright|notice|authors", re.IGNORECASE)
NOT_BUILT = {"tests", "benches", "examples", "fuzz"}

HEADER = """\
# Third-party notices

dpbi is licensed under [MIT](LICENSE-MIT) or [Apache 2.0](LICENSE-APACHE), at your choice. This file is
about what it is built from. `scripts/notices.py` writes it from `Cargo.lock`; do not edit it.

It lists every crate that is compiled into the program or its package for Python, or into what runs while these
are built, on any platform. Some of them, such as those for Windows or for the web, are not in every binary. Crates
that only tests and benchmarks use are not listed.

Where a crate offers a choice of licences, the column "we take" says which one we use. The texts stand
below the table, each of them once.

## Crates

| crate | version | licence | we take | authors, if named | source |
|---|---|---|---|---|---|
"""

INSIDE = """
## Files inside of crates

These have licences of their own. The letters in the figures are DejaVu Sans, regular and bold, which
come with the crate `dejavu` and are embedded in the program.
"""

FOOTER = """
## The Rust standard library

It is compiled into the program too, under `MIT OR Apache-2.0`. We take MIT, with the text above:
Copyright (c) The Rust Project contributors. What it contains in turn depends on the compiler. An
installation of Rust lists that in `share/doc/rust/COPYRIGHT-library.html`.

## Data

The program embeds the counts in `data/`. They were taken from data sets of the UCI Machine Learning
Repository, and each file names its own. Those in `data/printed/` were read off printed figures.
"""


def cargo(*arguments):
    """What a command of cargo prints."""
    command = ["cargo", *arguments, "--locked", "--quiet", "--color", "never"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8")
    if done.returncode != 0:
        why = "if sources of crates are missing, `cargo fetch --locked` gets them"
        sys.exit(f"error: `cargo {arguments[0]}` failed, see above; {why}")
    return done.stdout


def crates():
    """The packages that are built, sorted."""
    # The metadata also names crates that our features leave out; the tree has only what is built.
    edges = ["--edges", "normal,build", "--target", "all"]
    tree = cargo("tree", "--workspace", *edges, "--prefix", "none", "--format", "{p}")
    built = {tuple(line.split()[:2]) for line in tree.splitlines()}
    packages = json.loads(cargo("metadata", "--format-version", "1"))["packages"]
    packages = [p for p in packages if p["source"] and (p["name"], "v" + p["version"]) in built]
    return sorted(packages, key=lambda package: (package["name"], package["version"]))


def name(package):
    return f"{package['name']} {package['version']}"


def taken(package):
    """The licences that we take: one of every choice."""
    chosen = []
    for part in (package["license"] or "").split(" AND "):
        offered = re.split(r" OR |\s*/\s*", part.strip("() "))
        accepted = [licence for licence in MARKS if licence in offered]
        if not accepted:
            sys.exit(f"error: nobody has accepted {package['license']}, of {name(package)}: see MARKS")
        chosen.append(accepted[0])
    return chosen


def authors(package):
    """Their names, without addresses."""
    return ", ".join(re.sub(r"\s*(<.*|\S+@\S+)", "", author) for author in package["authors"])


def read(path):
    """A text without spaces at the ends of its lines."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def plain(text):
    """A text without its line breaks, to compare it."""
    return " ".join(text.split())


def licence_files(package):
    """The texts that a crate ships, by their paths inside of it."""
    folder = pathlib.Path(package["manifest_path"]).parent
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    paths = [path for path in paths if LICENCE_FILE.search(path.name) and path.suffix != ".rs"]
    paths = [path.as_posix() for path in paths if not NOT_BUILT & set(path.parts)]
    return {path: read(folder / path) for path in sorted(paths)}


def split_notice(text):
    """The copyright lines above an MIT text, and what many crates share. Other texts stay whole."""
    above, grant, rest = text.partition(GRANT)
    lines = [line.strip() for line in above.splitlines() if line.strip()]
    lines = [line for line in lines if not re.fullmatch(r"(The )?MIT License( \(MIT\))?", line)]
    if not grant or not all(line.startswith("Copyright") for line in lines):
        return "", text
    return "; ".join(lines) or "(no copyright line)", grant + rest


def standard_text(package, licence):
    """For a crate that ships no text."""
    if licence not in STANDARD:
        sys.exit(f"error: {name(package)} ships no text of {licence}, and STANDARD has none")
    _, body = split_notice(read(ROOT / STANDARD[licence]))
    holder = authors(package) or f"the authors of {package['name']}"
    return f"Copyright (c) {holder} (no text comes with it: this is the standard one)", body


def texts_of(package, licence, files):
    """The texts of one licence in a crate: copyright lines and body."""
    found = [text for path, text in files.items() if "/" not in path and not is_notice(path)]
    found = [text for text in found if MARKS[licence] in plain(text)]
    return [split_notice(text) for text in found] or [standard_text(package, licence)]


def is_notice(path):
    return path.lower().startswith("notice")


def fenced(text):
    return f"\n````text\n{text}\n````\n"


def licence_section(packages, files):
    """Every text once, below the crates that have it."""
    groups = {licence: {} for licence in MARKS}
    for package in packages:
        for licence in taken(package):
            for notice, body in texts_of(package, licence, files[name(package)]):
                _, users = groups[licence].setdefault(plain(body), (body, {}))
                users.setdefault(notice, set()).add(name(package))
    section = "\n## Licence texts\n"
    for licence, texts in groups.items():
        for body, users in texts.values():
            section += f"\n### {licence}\n\n"
            for notice, names in users.items():
                section += f"- {', '.join(sorted(names))}{': ' if notice else ''}{notice}\n"
            section += fenced(body)
    return section


def other_sections(packages, files):
    """The NOTICE files, and the licences of what lies inside of crates."""
    notices, inside = "\n## NOTICE files\n", INSIDE
    for package in packages:
        for path, text in files[name(package)].items():
            entry = f"\n### {name(package)}: `{path}`\n" + fenced(text)
            if is_notice(path):
                notices += entry
            elif "/" in path and "authors" not in path.lower():
                inside += entry
    return notices + inside


def row(package):
    cells = [package["name"], package["version"], package["license"], " AND ".join(taken(package))]
    return "| " + " | ".join([*cells, authors(package), package["repository"] or ""]) + " |\n"


def whole():
    """What the file should hold."""
    packages = crates()
    files = {name(package): licence_files(package) for package in packages}
    table = "".join(row(package) for package in packages)
    return HEADER + table + licence_section(packages, files) + other_sections(packages, files) + FOOTER


def rows(text):
    """The rows of the table, by crate and version."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return {" ".join(line[2:].split(" | ")[:2]): line for line in lines}


def check(found, wanted):
    """Fails with one sentence if the file is not what it should be."""
    if found == wanted:
        return
    old, new = rows(found), rows(wanted)
    missing = [crate for crate in new if crate not in old]
    stale = [crate for crate in old if old[crate] != new.get(crate)]
    named = [("missing: ", missing), ("stale: ", stale)]
    why = "; ".join(word + ", ".join(names) for word, names in named if names)
    why = why or "the crates are the same, the texts are not"
    sys.exit(f"error: {FILE.name} does not agree with Cargo.lock ({why}): run scripts/notices.py")


def main():
    parser = argparse.ArgumentParser(description="Writes THIRD-PARTY-NOTICES.md.")
    parser.add_argument("--check", action="store_true", help="only see whether it is up to date")
    if parser.parse_args().check:
        check(FILE.read_text(encoding="utf-8") if FILE.exists() else "", whole())
    else:
        FILE.write_text(whole(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
