#!/usr/bin/env python3
"""What is told of the programs in four places agrees: --help, manual pages, what shells complete, and the sources.
The tables are one, so this looks for a subcommand that has none, and whether other programs accept what was made."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import BUILD, main  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
MADE = BUILD / "manual.d"


def commands_of(program):
    """Those that --help lists."""
    text = subprocess.run([BUILD / program, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  (\w+)(?: |$)", text, re.M)


def help_of(program, command):
    done = subprocess.run([BUILD / program, command, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, (program, command, done)
    return done.stdout


def test_help_is_no_failure():
    """-h and --help: the same text, on the standard output, and 0."""
    for program, command in [(name, None) for name in ("lycosa", "websim")] + every() + [("lycosa", f"archive {part}") for part in ("get", "check", "cat", "list")]:
        texts = set()
        for option in ("-h", "--help"):
            done = subprocess.run([BUILD / program, *(command or "").split(), option], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            assert done.returncode == 0 and not done.stderr, (program, command, option, done)
            texts.add(done.stdout)
        assert len(texts) == 1 and texts.pop().startswith("usage: "), (program, command)


def options_of(program, command):
    return set(re.findall(r"^ {2}(?:-\w,|   ) --([\w-]+)", help_of(program, command), re.M))


def every(program="lycosa websim"):
    return [(name, command) for name in program.split() for command in commands_of(name)]


def test_no_subcommand_without_a_table():
    for program in ("lycosa", "websim"):
        for source in sorted((ROOT / "tools" / program).glob("*.c")):
            for name in re.findall(rf"^int {program}_(\w+)_main\(", source.read_text(), re.M):
                assert name in commands_of(program), f"{source.name}: {program}_{name}_main is not in the list of commands: \
give it a struct command {program}_{name} (tools/README.md, 'A subcommand')"
                text = help_of(program, name)
                assert text.startswith(f"usage: {program} {name}") and "-h, --help" in text, \
                    f"{source.name}: --help does not come from its table: call command_help"
                assert "getopt_long(" not in source.read_text(), f"{source.name}: options are read by command_getopt"


def test_options_are_in_pages_and_completions():
    for program, command in every():
        page = MADE / (f"lycosa-{command}.1" if program == "lycosa" else "websim.1")
        texts = {"manual page": page.read_text().replace("\\-", "-"), "bash": (MADE / f"{program}.bash").read_text(),
                 "zsh": (MADE / f"_{program}").read_text()}
        fish = [line for line in (MADE / f"{program}.fish").read_text().splitlines() if f"from {command}'" in line]
        found = options_of(program, command)
        assert "help" in found, (program, command)
        for option in found:
            for where, text in texts.items():
                assert f"--{option}" in text, f"--{option} of {program} {command} is not in: {where}"
            assert any(f" -l {option} " in line for line in fish), f"--{option} of {program} {command} is not in: fish"


def test_keys_are_in_the_page():
    page = (MADE / "lycosa.ini.5").read_text().replace("\\-", "-")
    printed = subprocess.run([BUILD / "lycosa", "crawl", "--print-tuning"], capture_output=True, text=True).stdout
    keys = re.findall(r"^([\w-]+) = ", printed, re.M)
    assert len(keys) > 80
    assert re.findall(r"^\.TP\n\\fB([\w-]+)\\fR = ", page, re.M) == keys


def test_pages_render_in_silence():
    assert shutil.which("man"), "no man: tools/setup --all"
    pages = sorted(MADE.glob("*.[15]"))
    assert len(pages) == len(commands_of("lycosa")) + 3, pages
    for page in pages:
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", page], capture_output=True, text=True,
                              env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0 and not done.stderr, (page.name, done.stderr)
        assert "NAME" in done.stdout and len(done.stdout) > 500, page.name


def complete(program, *words):
    """What bash offers for the last word."""
    line = " ".join(words)
    script = f"""source '{MADE}/{program}.bash'
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1} COMP_LINE='{line}'
        compopt() {{ echo "compopt $*"; }}
        _{program}; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "--norc", "-ic", script], capture_output=True, text=True, start_new_session=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_bash_completes():
    assert complete("lycosa", "lycosa", "cr") == ["crawl"]
    assert complete("lycosa", "lycosa", "crawl", "--res") == ["--resume"]
    assert set(complete("lycosa", "lycosa", "crawl", "--max")) == {"--max-pages", "--max-time"}
    assert complete("lycosa", "lycosa", "crawl", "-o", "x") == ["compopt -o dirnames +o default", ""]
    assert complete("lycosa", "lycosa", "crawl", "-c", "x") == [""]
    assert complete("lycosa", "lycosa", "archive", "ch") == ["check"]
    assert complete("websim", "websim", "serve", "--jour") == ["--journal"]
    assert complete("websim", "websim", "serve", "--host") == ["--hosts"]
    for program, command in every():
        assert set(complete(program, program, command, "--")) == {f"--{name}" for name in options_of(program, command)}


def test_other_shells_accept_them():
    for program in ("lycosa", "websim"):
        if shutil.which("zsh"):
            subprocess.run(["zsh", "-n", MADE / f"_{program}"], check=True)
        if shutil.which("fish"):
            subprocess.run(["fish", "--no-execute", MADE / f"{program}.fish"], check=True)
            offered = subprocess.run(["fish", "--no-config", "-c", f"source {MADE}/{program}.fish; complete -C '{program} '"],
                                     capture_output=True, text=True, check=True).stdout
            assert {line.split("\t")[0] for line in offered.splitlines()} >= set(commands_of(program)), offered


main([test_no_subcommand_without_a_table, test_help_is_no_failure, test_options_are_in_pages_and_completions, test_keys_are_in_the_page,
      test_pages_render_in_silence, test_bash_completes, test_other_shells_accept_them])
