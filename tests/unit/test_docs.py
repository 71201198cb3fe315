# SPDX-License-Identifier: MIT
"""The Markdown files: links and mentioned paths exist, and the index lists every document."""

import re

import work_tree
from fakelab import REPO

# Folders whose paths a document may mention. The list contains `src/p5lab` instead of `src`,
# because gem5 also has a directory `src`.
FOLDERS = (
    "LICENSES|bench|configs|docs|engine|guest-images|notebooks|src/p5lab|stats-parsers|tests|tools"
    "|workloads"
)
HISTORY = "CHANGELOG.md"  # it mentions files that have moved since then
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
# A path of the checkout, not a pattern (*, <...>).
PATH = re.compile(rf"(?<![\w./~-])(?:{FOLDERS})(?:/[\w.+-]+)*/?(?![\w*<{{/])")
PLACEHOLDERS = {"NAME", "SUITE", "GUEST", "EXPERIMENT"}


DOCUMENTS = work_tree.files(REPO, "*.md")


def mentioned(text: str) -> set[str]:
    """Returns the paths of the checkout in code spans of a text, outside of its fences."""
    paths = set()
    for span in CODE.findall(FENCE.sub("", text)):
        for path in PATH.findall(span):
            if PLACEHOLDERS.isdisjoint(re.split(r"[/.]", path)):
                paths.add(path.rstrip("./"))
    return paths


def missing_links(document: str, text: str) -> list[str]:
    """Returns the relative links of a document that have no target."""
    place = (REPO / document).parent
    links = (link for link in LINK.findall(FENCE.sub("", text)) if "://" not in link)
    return [link for link in links if not (place / link).exists()]


def test_what_counts_as_a_mention():
    text = """
See `docs/README.md`, `src/p5lab/cli/main.py` and `./p5lab run x` (`engine/p5`, `tests/e2e/`).
`configs/machines/NAME.toml`, `guest-images/*/guest.toml` and `build/engine/p5bochs` are no paths
of the checkout, nor is gem5's `src/base/stats/text.cc`.
```
docs/nothing.md
```
"""
    assert mentioned(text) == {"docs/README.md", "src/p5lab/cli/main.py", "engine/p5", "tests/e2e"}
    assert missing_links("docs/README.md", "[a](b.md) [c](README.md) [d](https://e.org/f.md)") == [
        "b.md"
    ]


def test_links_lead_somewhere():
    texts = {name: (REPO / name).read_text(encoding="utf-8") for name in DOCUMENTS}
    assert [(name, link) for name in texts for link in missing_links(name, texts[name])] == []


def test_mentioned_paths_exist():
    texts = {name: (REPO / name).read_text(encoding="utf-8") for name in DOCUMENTS}
    missing = [
        (name, path)
        for name in texts
        if name != HISTORY
        for path in sorted(mentioned(texts[name]))
        if not (REPO / path).exists()
    ]
    assert missing == []


def test_the_index_lists_every_document_once():
    listed = LINK.findall((REPO / "docs/README.md").read_text(encoding="utf-8"))
    expected = [name.removeprefix("docs/") for name in work_tree.files(REPO, "docs/*.md")]
    assert sorted(listed) == [name for name in expected if name != "README.md"]
