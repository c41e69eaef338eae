"""Questions to the person at the robot: on the terminal, or answered from the command line and a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Protocol

from rich.console import Console


class UnansweredError(Exception):
    """Nobody is there to answer: end of input, or a script without that answer."""


class Asker(Protocol):
    """Who answers. `key`: step.joint.question."""

    def consent(self, key: str, what: str) -> bool:
        """Before each transmission: may it be done?"""

    def text(self, key: str, question: str, choices: Sequence[str] = (), default: str = "") -> str:
        """A word, one of `choices` if there are any; UnansweredError."""


class Terminal:
    """Plain prompts: works over ssh and on a serial console."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def _line(self, prompt: str) -> str:
        try:
            return self.console.input(prompt, markup=False).strip()
        except EOFError as error:
            raise UnansweredError(prompt) from error

    def consent(self, key: str, what: str) -> bool:
        """Only a clear yes is one."""
        self.console.print(what, highlight=False)
        return self._line("transmit? [y/N] ").lower() in ("y", "yes")

    def text(self, key: str, question: str, choices: Sequence[str] = (), default: str = "") -> str:
        """Ask until the answer is one of the choices."""
        shown = f" ({', '.join(choices)})" if choices else ""
        while True:
            answer = self._line(f"{question}{shown}{f' [{default}]' if default else ''}: ") or default
            if not choices or answer in choices:
                return answer
            self.console.print(f"{answer!r} is none of {', '.join(choices)}", highlight=False)


class Scripted:
    """`yes_to`: steps whose transmissions are allowed; `answers`: pattern of keys -> answer, the first that fits."""

    def __init__(self, yes_to: Sequence[str], answers: Mapping[str, object], console: Console) -> None:
        self.yes_to, self.answers, self.console = tuple(yes_to), dict(answers), console

    def _find(self, key: str) -> str | None:
        for pattern, answer in self.answers.items():
            if fnmatchcase(key, pattern):
                return {True: "yes", False: "no"}.get(answer, str(answer)) if isinstance(answer, bool) else str(answer)
        return None

    def consent(self, key: str, what: str) -> bool:
        """By step, or by an answer of its own."""
        found = self._find(key)
        yes = key.partition(".")[0] in self.yes_to if found is None else found.lower() in ("y", "yes")
        self.console.print(f"{what} {'yes' if yes else 'no'} (script)", highlight=False)
        return yes

    def text(self, key: str, question: str, choices: Sequence[str] = (), default: str = "") -> str:
        """From the file; a default is no answer, since nobody looked."""
        found = self._find(key)
        if found is None:
            raise UnansweredError(f"{key}: no answer in the script")
        if choices and found not in choices:
            raise UnansweredError(f"{key}: {found!r} is none of {', '.join(choices)}")
        self.console.print(f"{question}: {found} (script)", highlight=False)
        return found
