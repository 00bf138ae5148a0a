"""Tests of count.py that need neither Dask nor a cluster: python -m unittest, in this folder."""

from __future__ import annotations

import asyncio
import contextlib
import io
import stat
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import count

SHARED = "15 --scheduler tcp://127.0.0.1:8786 --shards 12 --out folder"


def request(line: str = SHARED) -> count.Request:
    """Parse a command line."""
    return count.parse_arguments(line.split())


def report(n: int = 15, plan: str = "9d5582d2", missing: str = "") -> str:
    """Write what `nqueens merge --json` would, as far as it is read."""
    return f'{{"n":{n},"plan":"{plan}","engine":"halves","missing":{{"indices":"{missing}"}}}}'


class Shards(unittest.TestCase):
    """Shards in the form of job arrays."""

    def test_ranges_and_single_shards(self) -> None:
        """Both are read, in any mixture."""
        for text, shards in {
            "": [],
            "3": [range(3, 4)],
            "0-1": [range(2)],
            "3,7-9": [range(3, 4), range(7, 10)],
            "3,7-9,99": [range(3, 4), range(7, 10), range(99, 100)],
        }.items():
            self.assertEqual(count.parse_shards(text), shards, text)

    def test_anything_else_is_refused(self) -> None:
        """A word is not a shard."""
        with self.assertRaises(ValueError):
            count.parse_shards("3,x")


class Arguments(unittest.TestCase):
    """The command line."""

    def test_defaults(self) -> None:
        """One thread a task, and three more attempts."""
        got = request()
        self.assertEqual((got.n, got.shards, got.folder), (15, 12, Path("folder")))
        self.assertEqual((got.program, got.threads, got.retries), ("nqueens", 1, 3))
        self.assertEqual((got.scheduler, got.local), ("tcp://127.0.0.1:8786", None))

    def test_what_follows_two_dashes_goes_to_the_program(self) -> None:
        """The options stand at the end of its command line."""
        got = request(f"{SHARED} --threads 2 -- --engine halves")
        self.assertEqual(
            " ".join(got.arguments(3)),
            "shard 15 --index 3 --shards 12 --threads 2 --json --engine halves",
        )

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
            "15 --local 1 --shards 2 --out f --engine halves": "--engine",
            f"{SHARED} -- --shards 3": "--shards",
            f"{SHARED} -- --out=g": "--out",
            f"{SHARED} -- --second": "--second",
        }.items():
            with self.subTest(line), self.assertRaises(count.EndedError) as caught:
                request(line)
            self.assertEqual(caught.exception.code, count.USAGE)
            self.assertIn(word, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))


class Names(unittest.TestCase):
    """Names of journals and of tasks."""

    def test_a_journal_is_named_as_the_program_does(self) -> None:
        """At least four digits each."""
        self.assertEqual(request().name(3), "n15-0003-of-0012")
        self.assertEqual(replace(request(), shards=20000).name(3), "n15-0003-of-20000")
        self.assertEqual(replace(request(), second=True).name(3), "n15-second-0003-of-0012")

    def test_a_key_is_the_same_for_the_same_work_only(self) -> None:
        """Whatever may change the journal changes the key."""
        self.assertEqual(request().key(3), request(f"{SHARED} --retries 9").key(3))
        keys = {
            request().key(3),
            request().key(4),
            replace(request(), n=16).key(3),
            replace(request(), shards=13).key(3),
            replace(request(), program="other").key(3),
            replace(request(), second=True).key(3),
            request(f"{SHARED} -- --engine bitmask").key(3),
        }
        self.assertEqual(len(keys), 7)


class Words(unittest.TestCase):
    """Messages for people."""

    def test_why_a_process_failed(self) -> None:
        """Its last message, or else how it ended."""
        said = b"nqueens: warning: slow\nnqueens: disk full\n"
        self.assertEqual(count.reason(1, said), "disk full")
        self.assertEqual(count.reason(3, b""), "the process ended with exit code 3")
        self.assertEqual(count.reason(-9, b"x"), "the process was killed by signal 9")

    def test_clock(self) -> None:
        """Hours, minutes and seconds."""
        self.assertEqual(count.clock(3725.4), "1:02:05")

    def test_progress_gives_the_time_to_go(self) -> None:
        """Only shards of this run count for it."""
        progress = count.Progress(shards=12, before=6)
        progress.began -= 20
        self.assertEqual(progress.line(1), "6 of 12 shards, 1 worker, 0:00:20")
        progress.done = 8
        line = "8 of 12 shards, 3 workers, 0:00:20, about 0:00:40 to go"
        self.assertEqual(progress.line(3), line)


class LocalFolder(unittest.TestCase):
    """The folder of journals, with a stand-in for the program that prints a given text."""

    def setUp(self) -> None:
        """Make an empty folder and the stand-in."""
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.answer = Path(place.name, "answer")
        self.program = Path(place.name, "program")
        self.folder = Path(place.name, "folder")
        self.request = replace(request(), folder=self.folder, program=str(self.program))

    def says(self, text: str, code: int = 0) -> None:
        """Set what the stand-in prints on both outputs, and its exit code."""
        self.answer.write_text(text)
        self.program.write_text(
            f"#!/bin/sh\ncat {self.answer}\ncat {self.answer} >&2\nexit {code}\n"
        )
        self.program.chmod(stat.S_IRWXU)

    def with_journal(self) -> count.Folder:
        """Open a folder that holds something."""
        self.folder.mkdir()
        (self.folder / "n15-0001-of-0012.journal").touch()
        return count.Folder(self.request)

    def test_of_an_empty_folder_everything_is_missing(self) -> None:
        """Without journals the program is not even asked."""
        self.assertEqual(count.Folder(self.request).missing, [range(12)])

    def test_only_what_is_missing_is_counted(self) -> None:
        """The program names it."""
        self.says(report(missing="3,7-9"), count.STOPPED)
        folder = self.with_journal()
        self.assertEqual(folder.missing, [range(3, 4), range(7, 10)])
        self.assertEqual(folder.lacks(), 4)

    def test_of_a_finished_folder_nothing_is_missing(self) -> None:
        """Then no cluster is needed."""
        self.says(report())
        self.assertEqual(self.with_journal().missing, [])

    def test_the_two_counts_in_one_folder_do_not_meet(self) -> None:
        """The program is asked for one of them, and only if it has journals."""
        self.request = replace(self.request, second=True)
        self.says("it should not have been asked", count.FAILED)
        self.assertEqual(self.with_journal().missing, [range(12)])
        (self.folder / "n15-second-0001-of-0012.journal").touch()
        self.says(report(missing="3"), count.STOPPED)
        self.assertEqual(count.Folder(self.request).missing, [range(3, 4)])
        self.assertIn("--second", self.request.merge(self.folder))

    def test_a_damaged_journal_ends_the_run(self) -> None:
        """With the program's message and exit code."""
        self.says("nqueens: line 3 is damaged", count.FAILED)
        with self.assertRaisesRegex(count.EndedError, "^line 3 is damaged$") as caught:
            self.with_journal()
        self.assertEqual(caught.exception.code, count.FAILED)

    def test_the_folder_of_another_board_is_refused(self) -> None:
        """Nothing is written to it."""
        self.says(report(n=14))
        with self.assertRaisesRegex(count.EndedError, "n = 14") as caught:
            self.with_journal()
        self.assertEqual(caught.exception.code, count.USAGE)

    def test_a_journal_that_came_in_is_kept(self) -> None:
        """Under its name, and nothing else is left in the folder."""
        folder = count.Folder(self.request)
        self.says(report(missing="0-2,4-11"), count.STOPPED)
        folder.keep({3: b"journal"})
        self.assertEqual(
            [path.name for path in self.folder.iterdir()], ["n15-0003-of-0012.journal"]
        )
        self.assertEqual((self.folder / "n15-0003-of-0012.journal").read_bytes(), b"journal")

    def test_a_shard_without_units_has_no_journal(self) -> None:
        """So nothing is kept."""
        folder = count.Folder(self.request)
        folder.keep({3: b""})
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_wrong_journal_is_not_kept(self) -> None:
        """Neither one that lacks units, nor one of another plan or board, nor a damaged one."""
        folder = count.Folder(self.request)
        self.says(report(missing="0-2,4-11"), count.STOPPED)
        folder.keep({3: b"journal"})
        for text, code, words in [
            (report(missing="0-11"), count.STOPPED, "lacks units"),
            (report(plan="00000000"), count.DONE, "another plan"),
            (report(n=14), count.DONE, "another plan"),
            ("nqueens: line 1 is damaged", count.FAILED, "damaged"),
        ]:
            self.says(text, code)
            with self.subTest(words), self.assertRaisesRegex(count.EndedError, words):
                folder.keep({4: b"journal"})
            self.assertEqual(len(list(self.folder.iterdir())), 1)


class Future:
    """A stand-in for Dask's."""

    def __init__(self, status: str, error: BaseException | None = None) -> None:
        """Set what it will say."""
        self.status = status
        self.error = error

    def result(self, timeout: float) -> count.Answer:
        """Give the result, or find the connection lost."""
        assert timeout > 0
        if self.error:
            raise self.error
        return count.DONE, "tcp://a", b"journal"

    def exception(self) -> BaseException | None:
        """Give what the task raised."""
        return self.error


class Results(unittest.TestCase):
    """What becomes of a task."""

    def test_a_finished_task_gives_its_journal(self) -> None:
        """As it is."""
        answer = count.answer_of(Future("finished"), "n15")
        self.assertEqual(answer, (count.DONE, "tcp://a", b"journal"))

    def test_a_result_that_died_with_its_worker_is_waited_for(self) -> None:
        """Dask counts the shard again by itself."""
        for status in "lost", "pending":
            self.assertIsNone(count.answer_of(Future(status), "n15"))

    def test_a_failed_task_is_named_with_its_error(self) -> None:
        """In one line."""
        with self.assertRaisesRegex(count.EndedError, "^n15 failed: disk full$") as caught:
            count.answer_of(Future("error", RuntimeError("disk full\nand more")), "n15")
        self.assertEqual(caught.exception.code, count.FAILED)

    def test_a_lost_connection_can_be_resumed(self) -> None:
        """Whether Dask has noticed it already or not."""
        for future in (
            Future("cancelled"),
            Future("finished", ConnectionResetError()),
            Future("finished", asyncio.CancelledError()),
            Future("finished", asyncio.TimeoutError()),
        ):
            with self.assertRaisesRegex(count.EndedError, "connection") as caught:
                count.answer_of(future, "n15")
            self.assertEqual(caught.exception.code, count.STOPPED)


class Elsewhere(unittest.TestCase):
    """Where a shard goes that a worker refused."""

    def test_every_worker_is_tried_once(self) -> None:
        """At once, and never one that has refused."""
        refusals = count.Refusals(retries=0)
        self.assertEqual(refusals.places({"a", "b", "c"}), set())
        self.assertEqual(refusals.add("a", {"a", "b", "c"}), 0.0)
        self.assertEqual(refusals.places({"a", "b", "c", "d"}), {"b", "c", "d"})
        self.assertEqual(refusals.add("b", {"a", "b", "c"}), 0.0)
        self.assertIsNone(refusals.add("c", {"a", "b", "c"}))

    def test_time_may_help(self) -> None:
        """All are tried again after pauses that grow, as often as is allowed."""
        refusals = count.Refusals(retries=2)
        self.assertEqual(refusals.add("a", {"a"}), count.PAUSE_SECONDS)
        self.assertEqual(refusals.places({"a", "b"}), set())
        self.assertEqual(refusals.add("a", {"a"}), 2 * count.PAUSE_SECONDS)
        self.assertIsNone(refusals.add("a", {"a"}))

    def test_a_worker_that_left_is_not_waited_for(self) -> None:
        """Only those that are there count."""
        refusals = count.Refusals(retries=0)
        self.assertEqual(refusals.add("a", {"a", "b"}), 0.0)
        self.assertIsNone(refusals.add("a", {"a"}))


class Ends(unittest.TestCase):
    """Exit codes of the whole program, where no Dask is needed for them."""

    def run_main(self, line: str) -> tuple[int, str]:
        """Run it and give its exit code and what it said."""
        messages = io.StringIO()
        with contextlib.redirect_stderr(messages):
            code = count.main(line.split())
        return code, messages.getvalue()

    def test_wrong_usage(self) -> None:
        """One line and exit code 2."""
        code, messages = self.run_main("15 --local 1 --shards 0 --out f")
        self.assertEqual((code, messages.count("\n")), (count.USAGE, 1))

    def test_a_missing_program_is_named(self) -> None:
        """Before anything is made."""
        code, messages = self.run_main(f"{SHARED} --program no-such-program")
        self.assertEqual(code, count.USAGE)
        self.assertIn("'no-such-program'", messages)


if __name__ == "__main__":
    unittest.main()
