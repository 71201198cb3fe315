# SPDX-License-Identifier: MIT
"""Twenty programs of Debian with their input. Each gives the same output on every i386 processor,
or has a property that it prints itself (ssh-keygen).
"""

from dataclasses import dataclass, field

WORDS = "the quick brown fox jumps over a lazy dog while seven small cats sleep near an old wall"


def text(lines=120):
    """Lines with a word, a number and another word. Nothing in them is random."""
    words, state, made = WORDS.split(), 1, []
    for _ in range(lines):
        state = (state * 1103515245 + 12345) % (1 << 31)
        made.append(f"{words[state % 18]} {state // 18 % 1000} {words[state // 18000 % 18]}")
    return "\n".join(made) + "\n"


@dataclass(frozen=True)
class Case:
    """A program, the package that has it, its arguments, and the files that it needs. The package
    is empty for an essential one. `holds`: the output that shows the property; empty if the output
    must be that of the host."""

    name: str
    package: str
    command: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    stdin: str = ""
    holds: str = ""


def shell(name, package, script, files=None, **more):
    return Case(name, package, ("/bin/sh", "-c", script), files or {}, **more)


TEXT = {"/root/text": text()}
PERL = r"""
my %n; while (<>) { my ($a, $b, $c) = split; $n{$a} += $b; push @{$w{$c}}, $a; }
printf "%-8s %6d %.6f\n", $_, $n{$_}, log($n{$_} + 1) for sort keys %n;
print join(",", map { ucfirst } sort @{$w{"dog"}}), "\n", scalar reverse("abc"), "\n";
"""
PYTHON = """
import collections, decimal, hashlib, json, math, re, zlib
rows = [line.split() for line in open("/root/text")]
sums = collections.Counter()
for first, number, _ in rows: sums[first] += int(number)
print(json.dumps(dict(sorted(sums.items()))))
print(hashlib.sha256(open("/root/text", "rb").read()).hexdigest(), zlib.crc32(b"p5lab"))
decimal.getcontext().prec = 40
print(decimal.Decimal(2).sqrt(), math.factorial(40), math.sin(1.0), 1 / 3, 2 ** 0.5)
print(re.findall(r"\\b[a-d]\\w+", " ".join(row[2] for row in rows[:20])))
"""
SQL = """
create table t(a text, n integer, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<400)
insert into t select printf('k%02d', x % 37), x * x % 101, hex(x) from c;
create index i on t(a, n);
select a, sum(n), avg(n), max(b) from t group by a order by 2 desc, 1 limit 12;
"""
OPENSSL = """set -e; openssl dgst -sha512 /root/text; k=00112233445566778899aabbccddeeff
openssl enc -aes-128-cbc -K $k -iv $k -in /root/text | sha256sum; openssl rand -hex 8 | wc -c"""
TCL = """
proc fib n { if {$n < 2} { return $n }; expr {[fib [expr {$n-1}]] + [fib [expr {$n-2}]]} }
puts [fib 14]; puts [lsort -integer {5 3 11 2}]; puts [expr {sin(1) * 1e10}]
puts [string map {a 1 b 2} abcab]; array set x {one 1 two 2}; puts [lsort [array names x]]
"""
C = """
#include <math.h>
#include <stdio.h>
static int sieve(int n) {
  static char c[5000]; int k = 0;
  for (int i = 2; i < n; i++) { if (c[i]) continue; k++; for (int j = i; j < n; j += i) c[j] = 1; }
  return k;
}
int main(void) { printf("%d %.12f\\n", sieve(5000), sqrt(2.0) * atan(1.0)); return 0; }
"""
MAKEFILE = (
    "all: b\n\tcat b\nb: a\n\ttr a-z A-Z <a >b\n\twc -l <b >>b\na:\n\tprintf 'x y\\nz\\n' >a\n"
)
PAGE = """%!PS
/Times-Roman findfont 24 scalefont setfont 72 700 moveto (A page of text) show
0.5 setgray 100 100 300 200 rectfill 0 setgray 4 setlinewidth
newpath 300 400 100 0 360 arc stroke showpage
"""
GIT = """set -e; cd /tmp; git init -q r; cd r; cp /root/text a; git add a
export GIT_AUTHOR_DATE='1995-01-02T03:04:05Z' GIT_COMMITTER_DATE='1995-01-02T03:04:05Z'
git -c user.name=p5 -c user.email=p5@example.org commit -q -m first
sed -i s/dog/cat/ a; git diff --stat; git rev-parse HEAD; git fsck --full"""
KEYS = """set -e; cd /tmp; ssh-keygen -q -t ed25519 -N '' -C me -f k; echo text >m
ssh-keygen -q -Y sign -f k -n file m 2>/dev/null; echo "me $(cat k.pub)" >allowed
ssh-keygen -Y verify -f allowed -I me -n file -s m.sig <m | sed 's/ with .*//'"""

CASES = (
    Case("sort", "", ("/usr/bin/sort", "-k1,1", "-k2,2n", "/root/text"), TEXT),
    Case(
        "awk",
        "",
        ("/usr/bin/awk", '{s += $2; n[$1]++} END {print s, n["fox"], sin(s)}'),
        stdin=text(),
    ),
    Case("perl", "", ("/usr/bin/perl", "-e", PERL), stdin=text()),
    Case("python3", "python3", ("/usr/bin/python3", "-c", PYTHON), TEXT),
    Case("sqlite3", "sqlite3", ("/usr/bin/sqlite3", ":memory:"), stdin=SQL),
    shell(
        "gzip", "", "gzip -9nc /root/text >/tmp/z; sha256sum </tmp/z; gzip -dc /tmp/z | cksum", TEXT
    ),
    shell(
        "bzip2",
        "bzip2",
        "bzip2 -9c /root/text >/tmp/z; cksum </tmp/z; bzip2 -dc /tmp/z | cksum",
        TEXT,
    ),
    shell("openssl", "openssl", OPENSSL, TEXT),
    Case("tclsh", "tcl", ("/usr/bin/tclsh",), stdin=TCL),
    shell(
        "gcc",
        "gcc",
        "gcc -O2 -o /tmp/c /root/c.c -lm && sha256sum /tmp/c && /tmp/c",
        {"/root/c.c": C},
    ),
    shell("make", "make", "cd /tmp && make -f /root/Makefile", {"/root/Makefile": MAKEFILE}),
    shell("tar", "", "tar -c --sort=name --mtime=@0 --mode=644 -C /root text | sha256sum", TEXT),
    Case("grep", "", ("/usr/bin/grep", "-nE", "^(fox|dog) [0-9]+ .*(a|o)", "/root/text"), TEXT),
    Case(
        "sed",
        "",
        ("/usr/bin/sed", "-E", "s/([a-z]+) ([0-9]+)/\\2 \\1/;5,20d;s/cat/& &/"),
        stdin=text(),
    ),
    Case("bc", "bc", ("/usr/bin/bc", "-lq"), stdin="scale=40\n4*a(1)\n2^200\nsqrt(2)\n"),
    shell(
        "ghostscript",
        "ghostscript",
        "gs -q -dNOPAUSE -dBATCH -sDEVICE=pbmraw -r36 "
        "-sOutputFile=/tmp/o.pbm /root/page.ps && wc -c </tmp/o.pbm && sha256sum </tmp/o.pbm",
        {"/root/page.ps": PAGE},
    ),
    shell("ssh-keygen", "openssh-client", KEYS, holds='Good "file" signature for me\n'),
    shell("git", "git", GIT, TEXT),
    shell(
        "vim",
        "vim",
        "cp /root/text /tmp/t; vim -u NONE -i NONE -es -c '%s/dog/wolf/g' -c '%sort!'"
        " -c wq /tmp/t; cat /tmp/t",
        TEXT,
    ),
    shell(
        "busybox", "busybox", "busybox sort -r /root/text | busybox uniq -c | busybox md5sum", TEXT
    ),
)
