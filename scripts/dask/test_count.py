"""Tests of count.py that need neither Dask nor a cluster: python -m unittest, in this folder."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import os
import stat
import tempfile
import unittest
from pathlib import Path
from typing import Any

import count

SHARED = "15 --scheduler tcp://127.0.0.1:8786 --shards 12 --out folder"


def request(line: str = SHARED) -> argparse.Namespace:
    """Parse a command line."""
    return count.parse_arguments(line.split())


def report(n: int = 15, plan: str = "9d5582d2", missing: str = "") -> str:
    """Write what `nqueens merge --json` would, as far as it is read."""
    return f'{{"n":{n},"plan":"{plan}","engine":"subtrees","missing":{{"indices":"{missing}"}}}}'


class Arguments(unittest.TestCase):
    """The command line."""

    def test_defaults(self) -> None:
        """One thread a task, three more attempts, and nothing is recounted."""
        got = request()
        self.assertEqual((got.n, got.shards, got.out), (15, 12, Path("folder").absolute()))
        self.assertEqual((got.program, got.threads, got.retries), ("nqueens", 1, 3))
        self.assertEqual((got.scheduler, got.local), ("tcp://127.0.0.1:8786", None))
        self.assertIsNone(got.verify_units)

    def test_what_follows_two_dashes_goes_to_the_program(self) -> None:
        """The first two dashes, and as it is."""
        got = request(f"{SHARED} --threads 2 -- --engine subtrees -- x")
        self.assertEqual((got.threads, got.extra), (2, ["--engine", "subtrees", "--", "x"]))

    def test_wrong_ones_are_named(self) -> None:
        """Every mistake is one line that names the option, and exit code 2."""
        for line, word in {
            "": "N",
            "15": "--shards",
            "33 --local 1 --shards 2 --out f": "N",
            "x --local 1 --shards 2 --out f": "N",
            "15 --shards 2 --out f": "--scheduler",
            "15 --local 1 --scheduler x --shards 2 --out f": "--scheduler",
            "15 --local 0 --shards 2 --out f": "--local",
            "15 --local 1 --shards 0 --out f": "--shards",
            "15 --local 1 --shards 1000001 --out f": "--shards",
            "15 --local 1 --shards 2 --out f --retries -1": "--retries",
            "15 --local 1 --shards 2 --out f --threads 0": "--threads",
            "15 --local 1 --shards 2 --out f --verify-units 0": "--verify-units",
            "15 --local 1 --shards 2 --out f --engine subtrees": "--engine",
            "15 --local 1 --shards 2 --out=-x": "--out",
            "15 --local 1 --shards 2 --out -x": "--out",
            f"{SHARED} -- --shards 3": "--shards",
            f"{SHARED} -- --out=g": "--out",
            f"{SHARED} -- --second": "--second",
        }.items():
            with self.subTest(line), self.assertRaises(count.EndedError) as caught:
                request(line)
            code, words = caught.exception.args
            self.assertEqual(code, count.USAGE)
            self.assertIn(word, words)
            self.assertNotIn("\n", words)


class Words(unittest.TestCase):
    """Names, and messages for people."""

    def test_a_journal_is_named_as_the_program_does(self) -> None:
        """At least four digits each."""
        self.assertEqual(count.name(request(), 3), "n15-0003-of-0012")
        self.assertEqual(count.name(request(f"{SHARED} --shards 20000"), 3), "n15-0003-of-20000")
        self.assertEqual(count.name(request(f"{SHARED} --second"), 3), "n15-second-0003-of-0012")

    def test_why_a_process_failed(self) -> None:
        """What it said without its warnings, or else how it ended."""
        said = b"nqueens: warning: slow\nnqueens: unit 2 differs\nnqueens: unit 5 differs\n"
        self.assertEqual(count.reason(1, said), "unit 2 differs; unit 5 differs")
        self.assertEqual(count.reason(3, b""), "the process ended with exit code 3")
        self.assertEqual(count.reason(-9, b"x"), "the process was killed by signal 9")


class Local(unittest.TestCase):
    """A folder, and a stand-in for the program that prints a given text."""

    options = ""

    def setUp(self) -> None:
        """Name an empty folder and the stand-in."""
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.answer = Path(place.name, "answer")
        self.program = Path(place.name, "program")
        self.folder = Path(place.name, "folder")
        self.request = request(f"{SHARED} {self.options}")
        self.request.out, self.request.program = self.folder, str(self.program)

    def says(self, text: str, code: int = 0) -> None:
        """Set what the stand-in prints on both outputs, and its exit code."""
        self.answer.write_text(text)
        self.program.write_text(
            f"#!/bin/sh\ncat {self.answer}\ncat {self.answer} >&2\nexit {code}\n"
        )
        self.program.chmod(stat.S_IRWXU)

    def with_journal(self, name: str = "n15-0001-of-0012.journal") -> count.Count:
        """Open a folder that holds something."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / name).write_text("something")
        return count.Count(self.request)

    def names(self) -> list[str]:
        """List what is in the folder."""
        return sorted(path.name for path in self.folder.iterdir())

    def ends(self, code: int, words: str, call: Any, *arguments: Any) -> None:
        """Check that a call ends the run."""
        with self.assertRaises(count.EndedError) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.args[0], code)
        self.assertRegex(caught.exception.args[1], words)


class Found(Local):
    """What is in the folder before the run."""

    def test_of_an_empty_folder_everything_is_missing(self) -> None:
        """Without journals the program is not even asked. An empty one is none."""
        self.assertEqual(count.Count(self.request).missing, [range(12)])
        (self.folder / "n15-0001-of-0012.journal").touch()
        self.assertEqual(count.Count(self.request).missing, [range(12)])

    def test_only_what_is_missing_is_counted(self) -> None:
        """The program names it, as single shards and ranges."""
        for missing, shards in {
            "": [],
            "3": [range(3, 4)],
            "3,7-9,11": [range(3, 4), range(7, 10), range(11, 12)],
        }.items():
            self.says(report(missing=missing), count.STOPPED)
            self.assertEqual(self.with_journal().missing, shards)

    def test_a_damaged_journal_ends_the_run(self) -> None:
        """With the program's message and exit code."""
        self.says("nqueens: line 3 is damaged", count.FAILED)
        self.ends(count.FAILED, "^line 3 is damaged$", self.with_journal)

    def test_the_folder_of_another_board_is_refused(self) -> None:
        """Nothing is written to it."""
        self.says(report(n=14))
        self.ends(count.USAGE, "n = 14", self.with_journal)

    def test_what_is_no_file_is_refused(self) -> None:
        """Before the program could wait for it."""
        self.folder.mkdir()
        os.mkfifo(self.folder / "x.journal")
        self.ends(count.USAGE, "x.journal is not a plain file", count.Count, self.request)

    def test_what_cannot_be_a_folder_is_refused(self) -> None:
        """A file, what lies below one, and a link to nowhere."""
        self.answer.touch()
        self.folder.symlink_to("nowhere")
        for out in self.answer, self.answer / "x", self.folder, Path("/proc/x"):
            self.request.out = out
            self.ends(count.USAGE, f"--out {out}: ", count.Count, self.request)


class Second(Local):
    """A second count in the folder of the first."""

    options = "--second"

    def test_the_two_counts_do_not_meet(self) -> None:
        """The program is asked for one of them, and only if it has journals."""
        self.says("it should not have been asked", count.FAILED)
        self.assertEqual(self.with_journal().missing, [range(12)])
        self.says(report(missing="3"), count.STOPPED)
        got = self.with_journal("n15-second-0001-of-0012.journal")
        self.assertEqual(got.missing, [range(3, 4)])


class Kept(Local):
    """Journals that come in."""

    def test_a_journal_is_kept_under_its_name(self) -> None:
        """And nothing else is left in the folder."""
        got = count.Count(self.request)
        self.says(report(missing="0-2,4-11"), count.STOPPED)
        got.keep(3, b"journal")
        self.assertEqual(self.names(), ["n15-0003-of-0012.journal"])
        self.assertEqual((self.folder / "n15-0003-of-0012.journal").read_bytes(), b"journal")

    def test_nothing_that_is_there_is_replaced(self) -> None:
        """Not even an empty file or a link; the next free name is taken."""
        got = count.Count(self.request)
        (self.folder / "n15-0003-of-0012.journal").touch()
        (self.folder / "n15-0003-of-0012.2.journal").symlink_to("elsewhere")
        self.says(report(missing="0-2,4-11"), count.STOPPED)
        got.keep(3, b"third")
        got.keep(3, b"fourth")
        found = {name: (self.folder / name) for name in self.names()}
        self.assertEqual((found.pop("n15-0003-of-0012.journal")).read_bytes(), b"")
        self.assertTrue(found.pop("n15-0003-of-0012.2.journal").is_symlink())
        self.assertEqual(found.pop("n15-0003-of-0012.3.journal").read_bytes(), b"third")
        self.assertEqual(found.pop("n15-0003-of-0012.4.journal").read_bytes(), b"fourth")
        self.assertEqual(found, {})

    def test_a_wrong_journal_is_not_kept(self) -> None:
        """Neither one that lacks units, nor one of another plan or board, nor a damaged one."""
        got = count.Count(self.request)
        self.says(report(missing="0-2,4-11"), count.STOPPED)
        got.keep(3, b"journal")
        for text, code, words in [
            (report(missing="0-11"), count.STOPPED, "lacks units"),
            (report(plan="00000000"), count.DONE, "another plan"),
            (report(n=14), count.DONE, "another plan"),
            ("nqueens: line 1 is damaged", count.FAILED, "damaged"),
        ]:
            self.says(text, code)
            with self.subTest(words):
                self.ends(count.FAILED, words, got.keep, 4, b"journal")
            self.assertEqual(self.names(), ["n15-0003-of-0012.journal"])


class Future:
    """A stand-in for Dask's."""

    status = "pending"
    was_cancelled = False

    def cancel(self) -> None:
        """Remember it."""
        self.was_cancelled = True


class Cluster:
    """A stand-in for Dask's client and for its queue of tasks that have ended."""

    def __init__(self, *workers: str) -> None:
        """Begin with these workers."""
        self.workers = dict.fromkeys(workers, 1)
        self.submitted: list[tuple[int, set[str]]] = []
        self.futures: list[Future] = []
        self.ended: list[tuple[Future, Any]] = []

    def nthreads(self, callback_timeout: float) -> dict[str, int]:
        """Give the workers, as the client does."""
        assert callback_timeout > 0
        return self.workers

    def map(self, _: Any, indices: list[int], **options: Any) -> list[Future]:
        """Take tasks, as the client does."""
        self.submitted += [(index, set(options["workers"] or ())) for index in indices]
        self.futures += [Future() for _ in indices]
        return self.futures[-len(indices) :]

    def update(self, futures: list[Future]) -> None:
        """Watch tasks, as the queue does."""

    def next_batch(self, block: bool) -> list[tuple[Future, Any]]:
        """Give what has ended, as the queue does."""
        assert not block
        ended, self.ended = self.ended, []
        return ended

    def end(self, *results: Any) -> None:
        """Let the tasks that were submitted last end."""
        self.ended += list(zip(self.futures[-len(results) :], results))


class Results(Local):
    """What becomes of a task."""

    def start(self, shards: int, *workers: str) -> None:
        """Submit some shards."""
        cluster: Any = Cluster(*workers)
        self.cluster = cluster
        self.count = count.Count(self.request)
        self.count.client = self.count.completed = cluster
        self.count.look()
        self.count.submit(list(range(shards)))
        self.says(report(missing=""))

    def test_a_finished_task_gives_its_journal(self) -> None:
        """A shard without units has none."""
        self.start(2, "a")
        self.cluster.end((count.DONE, "a", "", b"journal"), (count.DONE, "a", "", b""))
        self.assertEqual(self.count.take_all(), 2)
        self.assertEqual(self.names(), ["n15-0000-of-0012.journal"])
        self.assertEqual(self.count.running, {})

    def test_what_came_with_a_failure_is_kept(self) -> None:
        """The failure is named in one line."""
        self.start(2, "a")
        fault = RuntimeError("worker a on x: disk full\nand more")
        self.cluster.end((RuntimeError, fault, None), (count.DONE, "a", "", b"journal"))
        self.ends(count.FAILED, "^n15-0000-of-0012: worker a on x: disk full$", self.count.take_all)
        self.assertEqual(self.names(), ["n15-0001-of-0012.journal"])

    def test_wrong_usage_and_a_difference_end_the_run(self) -> None:
        """With their exit codes."""
        for code in count.USAGE, count.FAILED:
            self.start(1, "a")
            self.cluster.end((code, "a", "worker a on x: unit 2 differs", b""))
            words = "^n15-0000-of-0012: worker a on x: unit 2 differs$"
            self.ends(code, words, self.count.take_all)
            self.assertEqual(len(self.cluster.submitted), 1)

    def test_a_lost_scheduler_can_be_resumed(self) -> None:
        """Dask cancels all tasks then."""
        self.start(1, "a")
        self.cluster.end(asyncio.CancelledError())
        self.ends(count.STOPPED, "scheduler is lost", self.count.take_all)

    def test_every_worker_is_tried_once(self) -> None:
        """Never one that has refused; the run ends with exit code 4 when all have."""
        self.start(1, "a", "b", "c")
        for worker, others in ("a", {"b", "c"}), ("c", {"b"}):
            self.cluster.end((count.NOT_NOW, worker, "no memory", b""))
            self.assertEqual(self.count.take_all(), 0)
            self.assertEqual(self.cluster.submitted[-1], (0, others))
        self.cluster.end((count.NOT_NOW, "b", "no memory", b""))
        self.ends(count.NOT_NOW, "no worker can count it now: no memory", self.count.take_all)

    def test_a_worker_that_left_is_not_waited_for(self) -> None:
        """The shard goes to any other, and later to those that refused it before."""
        self.start(1, "a", "b")
        self.cluster.end((count.NOT_NOW, "a", "no memory", b""))
        self.count.take_all()
        self.cluster.workers = {"a": 1, "c": 1}
        self.count.look()
        self.assertTrue(self.cluster.futures[1].was_cancelled)
        self.assertEqual(self.cluster.submitted[-1], (0, {"c"}))
        self.cluster.ended = [(self.cluster.futures[1], asyncio.CancelledError())]
        self.assertEqual(self.count.take_all(), 0)


class Ends(unittest.TestCase):
    """Exit codes of the whole program, where no Dask is needed for them."""

    def run_main(self, line: str) -> tuple[int, str]:
        """Run it and give its exit code and what it said."""
        messages = io.StringIO()
        with contextlib.redirect_stderr(messages):
            code = count.main(line.split())
        return code, messages.getvalue()

    def test_wrong_usage(self) -> None:
        """One line and exit code 2, before anything is made."""
        for line, word in {
            "15 --local 1 --shards 0 --out f": "--shards",
            "15 --local 1 --shards 3 --out=-x": "--out",
            f"{SHARED} --program no-such-program": "'no-such-program'",
            f"15 --local 1 --shards 3 --program true --out {__file__}": "--out",
        }.items():
            code, messages = self.run_main(line)
            self.assertEqual((code, messages.count("\n")), (count.USAGE, 1))
            self.assertIn(word, messages)


if __name__ == "__main__":
    unittest.main()
