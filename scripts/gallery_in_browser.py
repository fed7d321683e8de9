#!/usr/bin/env python3
"""Opens galleries of hostile results folders in headless Chromium, and looks whether any script ran.

    cargo build && python3 scripts/gallery_in_browser.py target/debug/dpbi [--pages 100] [--seed 1]

Needs `chromium` (or CHROMIUM=/path/to/it) and nothing else. Every page is opened twice:

* as dpbi wrote it, from a results folder whose drawing and titles a stranger made;
* with the stranger's drawing put into it as it is: what the page's own policy stops.

Each payload changes the title of the page, which `--dump-dom` shows. To know which payloads work at all, every page
is opened once more with neither protection. Then dpbi's own pages are opened: their policy may refuse nothing on
them, and the report's own script must run. Exits with 1 if something is wrong.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

CONFIG = """name = "v"
runs = 3
prior = [1, 1]
epsilon = 1
mechanisms = ["lshist", "ehds"]
data.balanced.sizes = [4, 6]
"""
XMLNS = 'xmlns="http://www.w3.org/2000/svg"'
# Without quotes, so that it stands in any. Only a script that runs computes the sum, so that RAN is in no file.
RUN = "document.title=/ran/.source+(40+2)"
RAN = "<title>ran42</title>"

# Attributes without a name, and whatever else hides a handler from a reader that looks for known pieces.
ATTRIBUTES = [
    f""" ="  onload='" x=";{RUN}//' \"""",
    f' onload="{RUN}"',
    f" onload='{RUN}'",
    f" ONLOAD={RUN}",
    f'/onload="{RUN}"',
    f'\tonload\n=\n"{RUN}"',
    f'\x0conload="{RUN}"',
    f' x=""onload="{RUN}"',
    f' ="" onload="{RUN}"',
    f""" x='"' onload="{RUN}" y='"'""",
    f' x="&quot;" onload="{RUN}"',
    f' &#111;nload="{RUN}" onload="{RUN}"',
    f' x="1" x="2" onload="&#100;{RUN[1:]}"',
    f' tabindex="1" autofocus="" onfocus="{RUN}"',
    f' style="animation: a 1s" onanimationstart="{RUN}" onload="{RUN}"',
]
ELEMENTS = [
    f"<script>{RUN}</script>",
    f"<SCRIPT>{RUN}</SCRIPT>",
    f"<script/x>{RUN}</script>",
    f"<script><![CDATA[{RUN}]]></script>",
    f'<script href="data:text/javascript,{RUN}"/>',
    f'<image href="x" onerror="{RUN}"/>',
    f'<animate attributeName="x" dur="1s" onbegin="{RUN}"/>',
    f'<set attributeName="x" to="1" onbegin="{RUN}"/>',
    f'<foreignObject><img src="x" onerror="{RUN}"/></foreignObject>',
    f"<foreignObject><iframe srcdoc=\"&lt;script&gt;parent.{RUN}&lt;/script&gt;\"/></foreignObject>",
    f'<desc><img src="x" onerror="{RUN}"/></desc>',
    f'<title><img src="x" onerror="{RUN}"/></title>',
    f"<style><!--</style><img src=x onerror=\"{RUN}\">--></style>",
    f"<!-- --!><img src=x onerror=\"{RUN}\"> -->",
    f"<!--><img src=x onerror=\"{RUN}\">-->",
    f"<![CDATA[<]]><script>{RUN}</script>",
    f"<?x ><img src=x onerror=\"{RUN}\">?>",
    f"</svg><img src=x onerror=\"{RUN}\"><svg>",
    f"<text></p><img src=x onerror=\"{RUN}\"></text>",
    f"<text><table><mglyph><style><img title=\"</style><img src=x onerror='{RUN}'>\"></text>",
    f"<rect fill=\"a>b\"/><img src=x onerror=\"{RUN}\"/>",
    f'<a href="javascript:{RUN}"><rect id="go"/></a>',
    f"<use href=\"data:image/svg+xml,&lt;svg id='x' {XMLNS} onload='{RUN}'/&gt;#x\"/>",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
]
SPACES = ["", " ", "\n", "\t", "\x0c", "\x0b", "\r", "\0", "\u00a0", "\u2028", "/"]


def attack(number, dice, own):
    """A stranger's drawing. The first ones hold one payload each, the others several, and are changed by chance."""
    payloads = len(ATTRIBUTES) + len(ELEMENTS)
    if number >= payloads and number % 4 == 0:
        # Only its words are hostile: such a drawing is taken into the page.
        words = escape(dice.choice(ELEMENTS), {'"': "&quot;", "'": "&apos;"})
        return re.sub("(<text [^>]*>\n).*\n", lambda text: f"{text[1]}{words}\n", own)
    attributes, elements = "", ""
    chosen = [number] if number < payloads else [dice.randrange(payloads) for _ in range(dice.randint(1, 3))]
    for i in chosen:
        if i < len(ATTRIBUTES):
            attributes += ATTRIBUTES[i]
        else:
            elements += ELEMENTS[i - len(ATTRIBUTES)]
    if number % 2 or number >= payloads:
        # Within a figure of our own: into its first tag, and behind one of its tags.
        drawing = own.replace("<svg", "<svg" + attributes, 1)
        ends = [match.end() for match in re.finditer(r">\n", drawing)][:-1]
        at = dice.choice(ends)
        drawing = drawing[:at] + elements + drawing[at:]
    else:
        drawing = f'<svg viewBox="0 0 9 9"{attributes} {XMLNS}>{elements}</svg>\n'
    if number >= payloads:
        for _ in range(dice.randint(0, 2)):
            drawing = changed(drawing, dice)
    return drawing


def changed(text, dice):
    """The text with a small change near one of its payloads, or anywhere."""
    near = [match.start() for match in re.finditer("on[a-z]+=|<script|document", text)]
    at = dice.choice(near) if near and dice.random() < 0.7 else dice.randrange(len(text))
    at = max(0, at - dice.randrange(12))
    kind = dice.randrange(4)
    if kind == 0:
        return text[:at] + dice.choice(SPACES) + text[at:]
    if kind == 1:
        return text[:at] + dice.choice(["'", '"', "<", ">", "=", "&", "<!--", "]]>", "&#x22;"]) + text[at:]
    if kind == 2:
        return text[:at] + text[at : at + 8].swapcase() + text[at + 8 :]
    return text[:at] + text[at + dice.randint(1, 3) :]


def forge(folder, drawing, title):
    """Puts a drawing and a title into a results folder, with a manifest that fits."""
    (folder / "box.svg").write_bytes(drawing.encode())
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["sha256"]
    manifest["config"]["title"] = title
    start = json.dumps(manifest, indent=2, ensure_ascii=False).removesuffix("\n}")
    path.write_text(f'{start},\n  "sha256": "{hashlib.sha256(start.encode()).hexdigest()}"\n}}\n')


def look(chromium, page, home):
    """The page as Chromium has it after a while, and what its console says."""
    with tempfile.TemporaryDirectory(dir=home) as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        options += [f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--enable-logging=stderr", "--log-level=0"]
        command = [chromium, *options, "--dump-dom", page.as_uri()]
        seen = subprocess.run(command, capture_output=True, timeout=120)
    dom, log = seen.stdout.decode(errors="replace"), seen.stderr.decode(errors="replace")
    if "</html>" not in dom:
        raise RuntimeError(f"Chromium shows nothing of {page}:\n{log[-2000:]}")
    return dom, [line for line in log.splitlines() if "CONSOLE" in line]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dpbi", type=pathlib.Path)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    dpbi = arguments.dpbi.resolve()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        sys.exit("there is no chromium; name one: CHROMIUM=/path/to/it")
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        wrong = examine(dpbi, chromium, home, arguments.pages, arguments.seed)
    for line in wrong:
        print("wrong:", line)
    sys.exit(1 if wrong else 0)


def examine(dpbi, chromium, home, pages, seed):
    def run(*args):
        subprocess.run([dpbi, *map(str, args)], cwd=home, check=True, stdout=subprocess.DEVNULL)

    (home / "v.toml").write_text(CONFIG)
    run("run", "v.toml", "--format", "svg", "-q")
    own = (home / "results/v/box.svg").read_text()
    written, raw = [], []
    for number in range(pages):
        dice = random.Random(f"{seed} {number}")
        case = home / f"case{number}"
        shutil.copytree(home / "results/v", case / "v")
        drawing = attack(number, dice, own)
        forge(case / "v", drawing, dice.choice(ELEMENTS))
        run("gallery", case / "v")
        page = case / "gallery.html"
        written.append(page)
        text = page.read_text()
        # The first picture is box.svg, as a drawing or as an image.
        before, after = re.split(r'<figure class="drawing[^>]*>.*?</figure>', text, maxsplit=1, flags=re.DOTALL)
        page = case / "raw.html"
        page.write_bytes((before + drawing + after).encode())
        raw.append(page)
    # The same without a policy, to know which payloads work at all.
    free = []
    for page in raw:
        copy = page.with_name("free.html")
        copy.write_bytes(re.sub(rb'<meta http-equiv="Content-Security-Policy"[^>]*>', b"", page.read_bytes()))
        free.append(copy)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:

        def ran(kind, some):
            doms = list(pool.map(lambda page: look(chromium, page, home), some))
            hits = [number for number, (dom, _) in enumerate(doms) if RAN in dom]
            print(f"{kind}: a script ran in {len(hits)} of {len(some)} pages", hits[:9] or "", flush=True)
            return hits

        able = ran("drawings as they are, without a policy", free)
        policed = ran("drawings as they are, with the page's policy", raw)
        shown = ran("galleries as dpbi writes them", written)
    drawn = sum('<img src="v/box.svg"' not in page.read_text() for page in written)
    print(f"{drawn} of {pages} drawings stand in their page, the others are images")
    found = {
        "a script ran in a gallery": shown,
        "a script ran in spite of the policy": policed,
        "no payload works anywhere, so that this test sees nothing": not able,
    }
    return [what for what, is_so in found.items() if is_so] + own_pages(run, chromium, home)


def own_pages(run, chromium, home):
    """What is wrong with dpbi's own pages under their own policy."""
    wrong = []
    run("run", "v.toml", "--format", "png", "--out", "pixels", "-q")
    (home / "both").mkdir()
    shutil.copytree(home / "results/v", home / "both/a")
    shutil.copytree(home / "pixels/v", home / "both/b")
    run("gallery", "both")
    run("reproduce", "bounds", "--runs", "2", "--format", "none", "--out", "report", "-q")
    report = next((home / "report").glob("*.html"))
    for page in [home / "both/gallery.html", report]:
        # The console names whatever a policy refuses.
        dom, console = look(chromium, page, home)
        print(f"{page.name}: {len(console)} messages on the console")
        wrong += [f"{page.name}: {line}" for line in console]
        if "Content-Security-Policy" not in dom:
            wrong.append(f"{page.name} has no policy")
    # The filter of the claims is hidden until the report's script shows it.
    form = re.search(r'<form[^>]*id="filter"[^>]*>', dom)
    print("the report's filter:", form and form[0])
    if not form or " hidden" in form[0]:
        wrong.append("the report's own script did not run")
    return wrong


if __name__ == "__main__":
    main()
