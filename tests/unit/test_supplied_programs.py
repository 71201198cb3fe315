# SPDX-License-Identifier: MIT
"""The programs that p5lab supplies for other systems: descriptions, phases, and the job."""

import re

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.describe import tomlfile
from p5lab.describe.markers import EMPTY_PHASE
from p5lab.describe.request import Filter, Request, UserMedia
from p5lab.errors import UserError
from p5lab.evidence import period
from p5lab.host import linux_programs, minix_programs, workload_programs
from p5lab.host.supplied_programs import SYSTEMS, check_job
from p5lab.lab import Lab
from p5lab.prepare import prepare

LAB = Lab(REPO)


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_program_has_a_title_and_its_source(system):
    programs = SYSTEMS[system].load(LAB)
    assert programs
    assert all(one.title for one in programs.values())


def test_the_command_lists_all_programs(capsys):
    assert cli.main(["list", "programs"], LAB) == 0
    said = capsys.readouterr().out
    for system in SYSTEMS.values():
        for name in system.load(LAB):
            assert f"{system.name}/{name}" in said


def test_no_two_programs_for_linux_share_a_phase():
    phases = linux_programs.phases(LAB)
    assert EMPTY_PHASE not in phases
    assert len(set(phases.values())) == len(phases)
    first = {name: number for name, (_, number) in linux_programs.sources(LAB).items() if number}
    for name, number in first.items():
        assert any(
            phase // workload_programs.PHASES * workload_programs.PHASES == number
            for phase in phases
        )
        assert min(phase for phase in phases if phase >= number) - number < workload_programs.PHASES
        assert name in phases[min(phase for phase in phases if phase >= number)]


def test_minix_gets_the_source_of_each_program():
    names = {path.name for path in minix_programs.made(LAB)}
    assert {"run", "main.c", "marker.s"} <= names
    assert "programs.toml" not in names
    script = (REPO / minix_programs.PLACE / "run").read_text()
    assert {word for word in script.split() if word.endswith((".c", ".s"))} == {
        name for name in names if name.endswith((".c", ".s"))
    }


def test_minix_programs_have_the_described_parameters():
    """The guest compiles the programs, so their defaults stand in C, too."""
    for name, program in SYSTEMS["minix"].load(LAB).items():
        text = (REPO / minix_programs.PLACE / f"{name}.c").read_text()
        in_c = re.findall(r'p5_parameter\("(\w+)", (\d+)\)', text)
        assert {key: int(value) for key, value in in_c} == program.parameters, name


def test_minix_programs_are_ansi_c_of_1989():
    """The compiler of MINIX knows no comments with //, and no declaration in a `for`."""
    for path in (REPO / minix_programs.PLACE).glob("*.c"):
        text = path.read_text()
        assert "//" not in text
        assert "for (int" not in text


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("job", ["iteration=5", "iterations", "iterations=0", "iterations=5K"])
def test_a_wrong_job_is_refused(system, job):
    with pytest.raises(UserError, match="--args"):
        check_job(LAB, SYSTEMS[system], job)


@pytest.mark.parametrize(
    ("system", "largest"), [("dos", 2147483647), ("linux", 2147483647), ("minix", 32765)]
)
def test_the_smallest_and_the_largest_number_are_allowed(system, largest):
    check_job(LAB, SYSTEMS[system], f"iterations=1 warmup={largest}")
    with pytest.raises(UserError, match=f"a whole number from 1 to {largest}$"):
        check_job(LAB, SYSTEMS[system], f"iterations={largest + 1}")


def test_an_unknown_system_is_one_line():
    asked = Request(UserMedia(programs="dso"), Filter(guests=("freedos",)))
    with pytest.raises(UserError, match=r"^--programs: unknown system of programs 'dso'.*'dos'"):
        prepare(LAB, asked)


def test_the_systems_of_the_comparison_are_known():
    """configs/period.toml names them."""
    described = period.systems(tomlfile.load(REPO / period.FILE))
    assert {one.programs for one in described} <= set(SYSTEMS)
