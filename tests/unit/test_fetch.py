# SPDX-License-Identifier: MIT
"""Tests of downloads. The tests make a mirror in a directory, and apt's own tools read this
mirror."""

import gzip
import hashlib
import json
import shutil
import subprocess

import pytest

from p5lab.errors import UserError
from p5lab.host import apt, fetch, sources
from p5lab.host.apt import Archive
from p5lab.host.fetch import Fetcher
from p5lab.host.sources import Moving, Pinned

needs_apt = pytest.mark.skipif(
    not fetch.APT_HELPER.exists() or shutil.which("apt-get") is None, reason="no apt on this host"
)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


PINNED = b"the file itself\n" * 100
PINNED_SOURCE = Pinned("tool", "1.0", "pool/main/t/tool/tool_1.0.tar", len(PINNED), sha256(PINNED))


def moving(**changes):
    entry = {
        "name": "kernel",
        "package": "kernel-source",
        "suite": "bookworm",
        "first": "6.1.100",
        "below": "6.2",
        "size": 1000,
        "tested": {},
    }
    return Moving(**(entry | changes))


class Mirror:
    """A Debian mirror with one package, in a directory."""

    def __init__(self, root):
        self.root = root
        self.packages = {"bookworm": [], "bookworm-security": []}
        self.put(PINNED_SOURCE.path, PINNED)

    def put(self, path, data):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(data)

    def add(self, version, suite="bookworm", data=None):
        """Adds a version of the package. Returns its bytes. `data` replaces the pool's file."""
        content = f"kernel {version}\n".encode() * 50
        path = f"pool/main/k/kernel/kernel-source_{version}_all.deb"
        self.put(path, content if data is None else data)
        self.packages[suite].append(
            f"Package: kernel-source\nVersion: {version}\nArchitecture: all\n"
            f"Maintainer: nobody <nobody@localhost>\nDescription: test\nFilename: {path}\n"
            f"Size: {len(content)}\nSHA256: {sha256(content)}\n"
        )
        self.publish()
        return content

    def publish(self):
        for suite, stanzas in self.packages.items():
            plain = "\n".join(stanzas).encode()
            listed = ""
            for architecture in ("amd64", "arm64", "i386"):
                for name, data in {
                    "Packages": plain,
                    "Packages.gz": gzip.compress(plain, mtime=0),
                }.items():
                    path = f"main/binary-{architecture}/{name}"
                    self.put(f"dists/{suite}/{path}", data)
                    listed += f" {sha256(data)} {len(data)} {path}\n"
            self.put(
                f"dists/{suite}/Release",
                f"Suite: {suite}\nCodename: {suite}\nDate: Thu, 01 Jan 2026 00:00:00 UTC\n"
                f"Architectures: amd64 arm64 i386\n"
                f"Components: main\nSHA256:\n{listed}".encode(),
            )


@pytest.fixture
def mirror(tmp_path):
    mirror = Mirror(tmp_path / "mirror")
    mirror.publish()
    return mirror


@pytest.fixture
def fetcher(tmp_path, mirror, monkeypatch):
    """Returns a fetcher with its own cache, on a host with this mirror in apt's configuration."""
    for name in ("P5LAB_MIRROR", "P5LAB_DISTDIR", "P5LAB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    parts = tmp_path / "etc/sources.list.d"
    parts.mkdir(parents=True)
    (parts / "debian.sources").write_text(
        f"Types: deb\nURIs: file:{mirror.root}\nSuites: bookworm bookworm-updates\n"
        f"Components: main\nTrusted: yes\n\n"
        f"Types: deb\nURIs: file:{mirror.root}\nSuites: bookworm-security\n"
        f"Components: main\nTrusted: yes\n"
    )
    sources = {"tool": PINNED_SOURCE, "kernel": moving()}
    return Fetcher(sources, cache=tmp_path / "cache", etc=tmp_path / "etc")


def leftovers(fetcher):
    return [path for path in (fetcher.cache / "dist").rglob("*") if path.is_file()]


@needs_apt
def test_a_pinned_file_comes_from_the_hosts_mirror_and_is_kept(fetcher, mirror):
    path = fetcher.obtain(fetcher.resolve("tool"))
    assert path.read_bytes() == PINNED
    assert not path.is_symlink()
    assert path == fetcher.cache / "dist" / PINNED_SOURCE.sha256 / "tool_1.0.tar"
    shutil.rmtree(mirror.root)
    assert fetcher.obtain(fetcher.resolve("tool")) == path


@needs_apt
def test_a_damaged_file_of_the_cache_is_fetched_again(fetcher):
    path = fetcher.obtain(fetcher.resolve("tool"))
    path.write_bytes(PINNED[:-1])
    assert fetcher.obtain(fetcher.resolve("tool")).read_bytes() == PINNED


@needs_apt
@pytest.mark.parametrize("data", [b"something else\n" * 100, PINNED[:-1], PINNED + b"x", b""])
def test_other_bytes_are_a_digest_mismatch_and_nothing_is_kept(fetcher, mirror, data):
    mirror.put(PINNED_SOURCE.path, data)
    with pytest.raises(
        UserError, match=r"cannot download tool_1\.0\.tar: digest mismatch"
    ) as error:
        fetcher.obtain(fetcher.resolve("tool"))
    assert "\n" not in str(error.value)
    assert leftovers(fetcher) == []


@needs_apt
def test_a_file_that_the_mirror_lacks(fetcher, mirror):
    (mirror.root / PINNED_SOURCE.path).unlink()
    with pytest.raises(UserError, match=r"cannot download tool_1\.0\.tar: .*") as error:
        fetcher.obtain(fetcher.resolve("tool"))
    assert "\n" not in str(error.value)
    assert leftovers(fetcher) == []


@needs_apt
def test_the_second_mirror_is_asked_when_the_first_lacks_the_file(fetcher, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    (fetcher.etc / "sources.list").write_text(f"deb file:{empty} bookworm main\n")
    assert fetcher.obtain(fetcher.resolve("tool")).read_bytes() == PINNED


@needs_apt
def test_the_newest_accepted_version_of_the_index_is_taken(fetcher, mirror):
    mirror.add("6.1.99-1")
    mirror.add("6.1.120-1")
    content = mirror.add("6.1.130-2", suite="bookworm-security")
    mirror.add("6.2.1-1")
    resolved = fetcher.resolve("kernel")
    assert (resolved.version, resolved.sha256) == ("6.1.130-2", sha256(content))
    assert fetcher.obtain(resolved).read_bytes() == content


@needs_apt
def test_versions_outside_the_range_are_refused(fetcher, mirror):
    mirror.add("6.1.99-1")
    mirror.add("6.2-1")
    with pytest.raises(
        UserError,
        match=r"kernel-source: the mirror has 6\.1\.99-1, 6\.2-1; expected a version"
        r" >= 6\.1\.100 and < 6\.2",
    ):
        fetcher.resolve("kernel")


@needs_apt
def test_a_package_that_no_index_has(fetcher):
    with pytest.raises(UserError, match=r"kernel-source is not on the mirror.*P5LAB_DISTDIR"):
        fetcher.resolve("kernel")


@needs_apt
def test_a_file_that_is_not_what_the_index_says(fetcher, mirror):
    mirror.add("6.1.120-1", data=b"forged\n" * 50)
    with pytest.raises(UserError, match="digest mismatch"):
        fetcher.obtain(fetcher.resolve("kernel"))
    assert leftovers(fetcher) == []


@needs_apt
def test_a_version_that_has_left_the_mirror_says_what_to_do(fetcher, mirror):
    mirror.add("6.1.120-1")
    resolved = fetcher.resolve("kernel")
    mirror.packages["bookworm"].clear()
    mirror.add("6.1.121-1")
    shutil.rmtree(fetcher.cache / "apt")
    with pytest.raises(UserError, match=r"6\.1\.120-1 is not on the mirror any more; remove"):
        fetcher.obtain(resolved)


@needs_apt
def test_once_downloaded_a_version_stays_until_the_cache_goes(fetcher, mirror):
    mirror.add("6.1.120-1")
    resolved = fetcher.resolve("kernel")
    fetcher.obtain(resolved)
    mirror.add("6.1.130-1")
    assert fetcher.resolve("kernel") == resolved


@needs_apt
def test_the_hosts_own_apt_is_not_touched(fetcher, mirror, monkeypatch):
    mirror.add("6.1.120-1")
    seen = []
    real = subprocess.run

    def spy(command, **options):
        if str(command[0]).startswith("apt-") and "apt-config" not in command[0]:
            seen.append(options["env"]["APT_CONFIG"])
        return real(command, **options)

    monkeypatch.setattr(subprocess, "run", spy)
    fetcher.resolve("kernel")
    assert seen
    assert set(seen) == {str(fetcher.cache / "apt/apt.conf")}
    output = real(
        ["apt-config", "dump", "--format", "%F %v%n"],
        env={"APT_CONFIG": seen[0], "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    ).stdout
    for key in ("Dir::State ", "Dir::Cache ", "Dir::Etc::sourcelist "):
        values = [line.removeprefix(key) for line in output.splitlines() if line.startswith(key)]
        assert all(value.startswith(str(fetcher.cache)) for value in values), (key, values)
    assert "Post-Invoke:: " not in output


def test_distdir_wins_and_is_verified(fetcher, tmp_path):
    fetcher.distdir = tmp_path / "dist"
    fetcher.distdir.mkdir()
    (fetcher.distdir / "tool_1.0.tar").write_bytes(PINNED)
    assert fetcher.obtain(fetcher.resolve("tool")) == fetcher.distdir / "tool_1.0.tar"
    (fetcher.distdir / "tool_1.0.tar").write_bytes(b"else")
    with pytest.raises(UserError, match=r"digest mismatch: tool_1\.0\.tar \(in P5LAB_DISTDIR\)"):
        fetcher.obtain(fetcher.resolve("tool"))


def test_distdir_takes_the_newest_accepted_version(fetcher, tmp_path):
    fetcher.distdir = tmp_path / "dist"
    fetcher.distdir.mkdir()
    for version in ("6.1.99-1", "6.1.101-1", "6.1.110-1", "6.3-1"):
        (fetcher.distdir / f"kernel-source_{version}_all.deb").write_bytes(version.encode())
    resolved = fetcher.resolve("kernel")
    assert (resolved.version, resolved.sha256) == ("6.1.110-1", sha256(b"6.1.110-1"))
    assert fetcher.obtain(resolved).read_bytes() == b"6.1.110-1"


def test_distdir_with_other_versions_only(fetcher, tmp_path):
    fetcher.distdir = tmp_path / "dist"
    fetcher.distdir.mkdir()
    (fetcher.distdir / "kernel-source_6.0.1-1_all.deb").write_bytes(b"old")
    with pytest.raises(UserError, match=r"P5LAB_DISTDIR has kernel-source 6\.0\.1-1; expected"):
        fetcher.resolve("kernel")


def test_a_tested_version_must_be_the_tested_bytes(fetcher, tmp_path):
    fetcher.distdir = tmp_path / "dist"
    fetcher.distdir.mkdir()
    (fetcher.distdir / "kernel-source_6.1.110-1_all.deb").write_bytes(b"forged")
    fetcher.sources["kernel"] = moving(tested={"6.1.110-1": sha256(b"real")})
    with pytest.raises(UserError, match=r"digest mismatch: kernel-source_6\.1\.110-1_all\.deb"):
        fetcher.resolve("kernel")


@needs_apt
def test_a_host_without_a_debian_mirror(fetcher):
    (fetcher.etc / "sources.list.d/debian.sources").write_text(
        "Types: deb\nURIs: http://localhost/x\nSuites: jammy\nComponents: main\n"
    )
    with pytest.raises(UserError, match=r"no Debian mirror in .*P5LAB_MIRROR"):
        fetcher.obtain(fetcher.resolve("tool"))


@needs_apt
def test_a_mirror_that_the_user_names(fetcher, mirror, monkeypatch):
    (fetcher.etc / "sources.list.d/debian.sources").unlink()
    monkeypatch.setenv("P5LAB_MIRROR", f"file:{mirror.root}/")
    assert fetcher.obtain(fetcher.resolve("tool")).read_bytes() == PINNED


def test_a_host_without_apt(fetcher, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "APT_HELPER", tmp_path / "none")
    with pytest.raises(UserError, match=r"cannot download tool_1\.0\.tar: this host has no apt"):
        fetcher.obtain(fetcher.resolve("tool"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="cannot look up kernel-source: this host has no apt"):
        fetcher.resolve("kernel")


@needs_apt
def test_a_full_disk_is_said_before_anything_is_written(fetcher, monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(UserError, match=r"disk full: tool_1\.0\.tar needs"):
        fetcher.obtain(fetcher.resolve("tool"))
    assert leftovers(fetcher) == []


D, S = ("http://m/d", False), ("http://m/s", True)


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("sources.list", "deb http://m/d bookworm main contrib # here\n", [D]),
        ("sources.list", "# deb http://m/d bookworm main\ndeb-src http://m/d bookworm main\n", []),
        ("sources.list", "deb [arch=amd64 trusted=yes] http://m/d/ trixie-updates main\n", [D]),
        ("sources.list", "deb http://m/s bookworm-security main\n", [S]),
        ("sources.list", "deb http://m/s bullseye/updates main\n", [S]),
        ("sources.list", "deb http://m/d bookworm-backports main\n", []),
        ("sources.list", "deb http://m/d bookworm contrib\n", []),
        ("sources.list", "deb cdrom:[Debian]/ bookworm main\n", []),
        ("sources.list.d/a.list", "deb http://m/d stable main\n", [D]),
        ("sources.list.d/a.disabled", "deb http://m/d stable main\n", []),
        (
            "sources.list.d/a.sources",
            "# comment\nTypes: deb deb-src\nURIs: http://a/debian http://b/debian\n"
            "Suites: trixie\nComponents: main\n",
            [("http://a/debian", False), ("http://b/debian", False)],
        ),
        (
            "sources.list.d/a.sources",
            "Enabled: no\nTypes: deb\nURIs: http://a/debian\nSuites: trixie\nComponents: main\n",
            [],
        ),
        (
            "sources.list.d/a.sources",
            "Types: deb\nURIs: http://a/ubuntu\nSuites: noble\nComponents: main\n",
            [],
        ),
    ],
)
def test_archives_of_an_apt_configuration(tmp_path, file, text, expected):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / file).write_text(text)
    found = [(entry.uri, entry.security) for entry in apt.host_archives(tmp_path)]
    assert found == expected


def test_a_key_within_the_configuration_is_kept(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d/a.sources").write_text(
        "Types: deb\nURIs: http://a/debian\nSuites: trixie\nComponents: main\nSigned-By:\n"
        " -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQENBF\n -----END PGP PUBLIC KEY BLOCK-----\n"
    )
    [entry] = apt.host_archives(tmp_path)
    key = dict(entry.options)["signed-by"]
    assert "BEGIN PGP" in key
    fetcher = Fetcher({}, cache=tmp_path / "cache")
    line = fetcher.source_line(entry, "bookworm")
    [key_file] = (tmp_path / "cache/apt").glob("*.asc")
    assert line == f"deb [signed-by={key_file}] http://a/debian bookworm main\n"
    assert key_file.read_text().strip().splitlines() == [
        "-----BEGIN PGP PUBLIC KEY BLOCK-----",
        "",
        "mQENBF",
        "-----END PGP PUBLIC KEY BLOCK-----",
    ]


def test_a_mirror_list_gives_its_first_mirror(tmp_path):
    mirrors = tmp_path / "mirrors.list"
    mirrors.write_text("# ours\nhttp://a/debian\tpriority:1\nhttp://b/debian\n")
    (tmp_path / "sources.list").write_text(f"deb mirror+file:{mirrors} trixie main\n")
    assert apt.host_archives(tmp_path) == [Archive("http://a/debian", False)]


def test_what_is_recorded_names_no_host_or_path(fetcher, tmp_path):
    fetcher.distdir = tmp_path / "dist"
    fetcher.distdir.mkdir()
    (fetcher.distdir / "kernel-source_6.1.110-1_all.deb").write_bytes(b"x")
    text = json.dumps(vars(fetcher.resolve("kernel")))
    assert str(tmp_path) not in text


def test_unknown_source(fetcher):
    with pytest.raises(UserError, match=r"sources\.toml: unknown source 'kernal'; did you mean"):
        fetcher.resolve("kernal")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema_version = 2\n", "schema_version: expected 1, found 2"),
        ("schema_version = 1\n[a]\nsize = 0\n", "a: size: expected at least 1"),
        (
            'schema_version = 1\n[a]\nsize = 1\nversion = "1"\npath = "../x"\nsha256 = "0"\n',
            "a: sha256: expected 64",
        ),
        (
            'schema_version = 1\n[a]\nsize = 1\nversion = "1"\npath = "../x"\n'
            f'sha256 = "{"0" * 64}"\n',
            "a: path: expected a path below the mirror",
        ),
        ("schema_version = 1\n[a]\nsize = 1\n", "a: missing key 'package'"),
    ],
)
def test_errors_of_sources_toml(tmp_path, text, message):
    (tmp_path / "sources.toml").write_text(text)
    with pytest.raises(UserError, match=message):
        sources.read_sources(tmp_path / "sources.toml")


def test_a_source_that_was_never_tested_is_named(tmp_path):
    """A run says that its guest has a later Linux than the documents."""
    (tmp_path / "sources.toml").write_text(
        'schema_version = 1\n[linux]\npackage = "linux-source-6.1"\nsuite = "bookworm"\n'
        'from = "6.1.100"\nbelow = "6.2"\nsize = 1\n'
        f'[linux.tested]\n"6.1.192-2" = "{"0" * 64}"\n'
    )
    place = tmp_path / "build/guests/linux"
    place.mkdir(parents=True)
    (place / "guest.json").write_text('{"inputs": {"build/sources/linux.json": ""}}')
    record = tmp_path / "build/sources/linux.json"
    record.parent.mkdir()
    for version, count in (("6.1.192-2", 0), ("6.1.210-1", 1)):
        record.write_text(
            f'{{"name": "linux", "version": "{version}", "file": "", "size": 1, "sha256": ""}}'
        )
        said = fetch.untested(tmp_path, ["linux", "freedos"])
        assert len(said) == count
    assert "6.1.210-1" in said[0]
    assert "6.1.192-2" in said[0]
