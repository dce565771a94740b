import io
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from conftest import PAIRS

from translator.checkpoint import load_checkpoint, save_checkpoint
from translator.cli import main
from translator.inference import Translator

SCRIPT = Path(__file__).parents[2] / "scripts" / "translate.py"


def run_script(*args, stdin=None, env=None):
    return subprocess.run(
        [sys.executable, SCRIPT, *args],
        input=stdin,
        capture_output=True,
        env={**os.environ, **(env or {})},
        timeout=120,
        check=False,
    )


@pytest.mark.fault("B79")
def test_arguments_file_and_stdin_give_the_same(trained, tmp_path, capsys, monkeypatch):
    lines = [en for en, _, level in PAIRS if level == "polite"]
    expected = [ko for _, ko, level in PAIRS if level == "polite"]
    options = ["--model", str(trained), "--style", "polite"]

    assert main(["translate", *lines, *options]) == 0
    assert capsys.readouterr().out.strip().split("\n") == expected

    path = tmp_path / "lines.txt"
    path.write_bytes("\r\n".join(lines).encode())  # Windows line ends, no last newline
    assert main(["translate", "--file", str(path), *options]) == 0
    assert capsys.readouterr().out.strip().split("\n") == expected

    stdin = io.TextIOWrapper(io.BytesIO("\n".join(lines).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["translate", *options]) == 0
    assert capsys.readouterr().out.strip().split("\n") == expected

    assert main(["translate", *lines, *options, "--no-cache"]) == 0
    assert capsys.readouterr().out.strip().split("\n") == expected

    translated = Translator.from_pretrained(trained).translate(lines, "polite")
    assert [translation.text for translation in translated] == expected


@pytest.mark.fault("B06")
@pytest.mark.fault("B07")
@pytest.mark.parametrize(
    "text", ["", "\n\n\n", "Thank you.\n\n\nI\n   \n\u3000\n", "a\u2028b\nc\x85\x0cd\n", "a\r\nb"]
)
def test_as_many_lines_out_as_in(trained, tmp_path, capsys, text):
    path = tmp_path / "lines.txt"
    path.write_bytes(text.encode())
    assert main(["translate", "--file", str(path), "--model", str(trained)]) == 0
    out = capsys.readouterr().out
    n_lines = text.count("\n") + (not text.endswith("\n") and text != "")
    assert out.count("\n") == n_lines
    assert not set("\u2028\x85\x0c\r") & set(out)


@pytest.mark.fault("B06")
def test_chunk_edges(trained, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("translator.cli.translate.LINES_AT_ONCE", 3)
    lines = ["" if i % 4 == 3 else PAIRS[0][0] for i in range(10)]
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["translate", "--file", str(path), "--model", str(trained)]) == 0
    expected = ["" if i % 4 == 3 else PAIRS[0][1] for i in range(10)]
    assert capsys.readouterr().out.split("\n") == [*expected, ""]


def test_bytes_that_are_not_utf8_lose_no_line(trained, tmp_path, capsys):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"Thank you.\n\xff\xfe\nThank you.\n")
    assert main(["translate", "--file", str(path), "--model", str(trained)]) == 0
    out = capsys.readouterr().out.split("\n")
    assert (out[0], out[2], len(out)) == ("감사합니다.", "감사합니다.", 4)


def test_an_over_long_line_is_named(trained, tmp_path, capsys):
    path = tmp_path / "lines.txt"
    path.write_text(f"Thank you.\n{'q' * 300}\n", encoding="utf-8")
    assert main(["translate", "--file", str(path), "--model", str(trained)]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 2
    assert "translator: line 2: only the first 46 of 301 pieces were translated" in captured.err


def test_utf_16_input_is_named(trained, tmp_path, capsys):
    path = tmp_path / "lines.txt"
    path.write_bytes("Hi\nThere\n".encode("utf-16"))
    assert main(["translate", "--file", str(path), "--model", str(trained)]) == 2
    assert f"{path}: the text is UTF-16; save it as UTF-8" in capsys.readouterr().err


def test_the_line_that_is_too_long_is_named(trained, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("translator.cli.translate.LINES_AT_ONCE", 2)
    checkpoint = load_checkpoint(trained / "best.pt")
    config = checkpoint.config.override(["decoding.too_long=error"])
    save_checkpoint(tmp_path / "strict.pt", replace(checkpoint, config=config))
    path = tmp_path / "lines.txt"
    path.write_text(f"Hi\nHi\nHi\n{'q' * 300}\n", encoding="utf-8")
    assert main(["translate", "--file", str(path), "--model", str(tmp_path / "strict.pt")]) == 2
    assert "line 4: 301 pieces, but the model takes 46" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_and_closed_streams(trained):
    translate = f'"{sys.executable}" "{SCRIPT}" --model "{trained}" "Thank you."'
    full = subprocess.run(
        ["sh", "-c", f"{translate} > /dev/full"], capture_output=True, timeout=120, check=False
    )
    assert full.returncode == 2 and b"No space left" in full.stderr
    assert b"Traceback" not in full.stderr
    for closed in (">&-", "<&-"):
        done = subprocess.run(
            ["sh", "-c", f"{translate} {closed}"], capture_output=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--file", "", "--model", "unused"], "unused: no such checkpoint"),
        (["--model", "nowhere.pt", "Hi"], "nowhere.pt: no such checkpoint"),
        (["--file", "nowhere.txt"], "nowhere.txt: cannot be read: No such file"),
        (["--file", "x.txt", "Hi"], "both sentences and --file x.txt were given"),
        (["--style", "rude", "Hi"], "invalid choice: 'rude'"),
    ],
)
def test_what_a_user_gets_wrong_is_told_in_one_line(trained, args, message):
    done = run_script(*args, *([] if "--model" in args else ["--model", trained]))
    assert done.returncode == 2
    assert done.stdout == b""
    err = done.stderr.decode()
    assert message in err and "Traceback" not in err


def test_a_damaged_checkpoint(tmp_path, trained, capsys):
    damaged = tmp_path / "model.pt"
    damaged.write_bytes((trained / "best.pt").read_bytes()[:5000])
    assert main(["translate", "Hi", "--model", str(damaged)]) == 2
    assert capsys.readouterr().err == (
        f"translator: {damaged}: damaged, or not a checkpoint; train or install it again\n"
    )


@pytest.mark.fault("B09")
def test_a_locale_without_hangul(trained):
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run_script("--model", trained, stdin="Thank you.\n학생\n".encode(), env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().split("\n")[0] == "감사합니다."
    done = run_script("--model", trained, "Thank you.", "학생", env=env)
    assert done.stdout.decode().split("\n")[0] == "감사합니다."


@pytest.mark.fault("B81")
def test_a_reader_that_leaves_early(trained):
    translate = f'"{sys.executable}" "{SCRIPT}" --model "{trained}"'
    command = f'yes "Thank you." | head -500 | {translate} | head -1'
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=120, check=False)
    assert done.stdout.decode() == "감사합니다.\n"
    assert done.stderr == b""


def test_stdin_is_answered_line_by_line(trained):
    """An answer comes before the next question is asked."""
    command = [sys.executable, SCRIPT, "--model", trained]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for english, korean in (("Thank you.", "감사합니다."), ("It is raining.", "비가 옵니다.")):
            process.stdin.write(f"{english}\n".encode())
            process.stdin.flush()
            assert process.stdout.readline().decode() == f"{korean}\n"
        process.stdin.close()
    assert process.returncode == 0


def lines_of(capsys):
    return capsys.readouterr().out.removesuffix("\n").split("\n")


def test_formats(trained, capsys):
    command = [
        "translate",
        "--model",
        str(trained),
        "Thank you.",
        "",
        "I am a\tstudent. Thank you.",
    ]
    assert main([*command, "--format", "tsv"]) == 0
    rows = [line.split("\t") for line in lines_of(capsys)]
    assert [row[:2] for row in rows[:2]] == [["Thank you.", "감사합니다."], ["", ""]]
    assert [len(row) for row in rows] == [3, 3, 3]
    assert float(rows[0][2]) < 0
    assert main([*command, "--format", "jsonl"]) == 0
    rows = [json.loads(line) for line in lines_of(capsys)]
    assert [row["line"] for row in rows] == [1, 2, 3]
    assert rows[0]["translation"] == "감사합니다." and rows[0]["finished"]
    assert "".join(rows[0]["pieces"]).replace("▁", "") == "감사합니다."
    assert rows[1]["translation"] == "" and rows[1]["pieces"] == []
    assert rows[2]["translation"].endswith("감사합니다.")


def test_beam_and_further_translations(trained, capsys):
    command = ["translate", "--model", str(trained), "Thank you.", "It is raining."]
    assert main([*command, "--n-best", "3"]) == 0
    rows = [line.split("\t") for line in lines_of(capsys)]
    assert [row[0] for row in rows] == ["감사합니다.", "비가 옵니다."]
    assert [len(set(row)) for row in rows] == [3, 3]
    assert main([*command, "--beam-size", "4"]) == 0
    assert lines_of(capsys) == ["감사합니다.", "비가 옵니다."]
    assert main([*command, "--n-best", "2", "--format", "jsonl"]) == 0
    assert len(json.loads(lines_of(capsys)[0])["alternatives"]) == 1
    assert main([*command, "--set", "decoding.min_tokens=12"]) == 0
    assert all(len(line) > 8 for line in lines_of(capsys))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--n-best", "3", "--beam-size", "2"], "n_best: 3 translations need a beam_size"),
        (["--set", "train.lr=1"], "only decoding.… has an effect here"),
        (["--set", "decoding.beam=1"], "did you mean decoding.beam_size?"),
        (["--beam-size", "4", "--set", "decoding.beam_size=2"], "--beam-size 4 and --set"),
        (["--device", "tpu"], "device: 'tpu' is not on this machine; try auto or cpu"),
        (["--output", "nowhere/out.txt"], "nowhere/out.txt: cannot be written"),
    ],
)
def test_options_that_cannot_be(trained, capsys, options, message):
    assert main(["translate", "--model", str(trained), "Hi", *options]) == 2
    assert message in capsys.readouterr().err


def test_output_is_there_when_it_is_complete(trained, tmp_path, capsys, monkeypatch):
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("Thank you.\n\nThank you.\n", encoding="utf-8")
    command = ["translate", "--model", str(trained), "--file", str(source), "--output", str(target)]
    assert main(command) == 0
    assert target.read_text(encoding="utf-8") == "감사합니다.\n\n감사합니다.\n"
    assert capsys.readouterr().out == ""

    def broken(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("translator.cli.translate.translate_lines", broken)
    handler = signal.getsignal(signal.SIGINT)
    try:
        assert main(command) == 130
    finally:
        signal.signal(signal.SIGINT, handler)  # main leaves no handler to a process that ends
    assert target.read_text(encoding="utf-8") == "감사합니다.\n\n감사합니다.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt"]


def test_subtitles_keep_numbers_and_times(trained, tmp_path, capsys):
    path = tmp_path / "film.srt"
    times = ["00:00:01,000 --> 00:00:02,000", "00:00:03,000 --> 00:00:04,000"]
    text = f"1\n{times[0]}\nThank\nyou.\n\n2\n{times[1]}\nThank you.\n"
    path.write_text(text, encoding="utf-8")
    assert main(["translate", "--model", str(trained), "--file", str(path)]) == 0
    assert capsys.readouterr().out == text.replace("Thank\nyou.", "감사합니다.").replace(
        "Thank you.", "감사합니다."
    )
    command = ["translate", "--model", str(trained), "--file", str(path), "--format", "tsv"]
    assert main(command) == 2
    assert "subtitles stay subtitles" in capsys.readouterr().err


def test_subtitles_are_numbered_as_such(trained, tmp_path, capsys):
    path, out = tmp_path / "film.SRT", tmp_path / "out.srt"
    times = "00:00:01,000 --> 00:00:02,000"
    path.write_text(f"1\n{times}\nThank\nyou.\n\n2\n{times}\n{'q' * 300}\n", encoding="utf-8")
    command = ["translate", "--model", str(trained), "--file", str(path), "--output", str(out)]
    assert main(command) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "translator: subtitle 2: only the first 46 of 301 pieces" in captured.err
    assert out.read_text(encoding="utf-8").startswith(f"1\n{times}\n감사합니다.\n\n2\n{times}\n")
    assert main([*command, "--set", "decoding.too_long=error"]) == 2
    assert "translator: subtitle 2: 301 pieces, but the model takes 46" in capsys.readouterr().err
    assert main([*command, "--n-best", "3"]) == 2
    assert "--n-best 3: a subtitle has one text" in capsys.readouterr().err


def test_a_row_of_tsv_is_one_line_whatever_the_argument_holds(trained, capsys):
    command = ["translate", "--model", str(trained), "--format", "tsv"]
    assert main([*command, "Thank\tyou.\nThank\ryou.", "Thank you."]) == 0
    rows = [line.split("\t") for line in lines_of(capsys)]
    assert [row[0] for row in rows] == ["Thank you. Thank you.", "Thank you."]
    assert [len(row) for row in rows] == [3, 3]


def on_a_terminal(monkeypatch):
    """Standard error is a terminal, for whoever asks."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def test_a_bar_for_a_file_on_a_terminal(trained, tmp_path, capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("Thank you.\n\nThank you.\n", encoding="utf-8")
    command = ["translate", "--model", str(trained), "--file", str(source), "--output", str(target)]
    assert main(command) == 0
    assert "3/3" in capsys.readouterr().err
    assert target.read_text(encoding="utf-8") == "감사합니다.\n\n감사합니다.\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_bar_does_not_take_the_lines_of_a_pipe(trained, tmp_path, monkeypatch):
    on_a_terminal(monkeypatch)
    pipe, target = tmp_path / "pipe", tmp_path / "out.txt"
    os.mkfifo(pipe)

    def write():
        for text in ("Thank you.\nThank you.\n", ""):  # a second reader would find nothing
            with open(pipe, "w", encoding="utf-8") as file:
                file.write(text)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    command = ["translate", "--model", str(trained), "--file", str(pipe), "--output", str(target)]
    assert main(command) == 0
    os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))  # the writer may wait for a second one
    writer.join(10)
    assert target.read_text(encoding="utf-8") == "감사합니다.\n감사합니다.\n"


def test_a_missing_file_is_not_blamed_on_the_output(trained, tmp_path, capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    out = tmp_path / "out.txt"
    command = ["translate", "--model", str(trained), "--output", str(out), "--file", "nowhere.txt"]
    assert main(command) == 2
    err = capsys.readouterr().err
    assert "translator: nowhere.txt: cannot be read: No such file" in err
    assert "out.txt" not in err and list(tmp_path.iterdir()) == []


def test_a_directory_as_output_is_refused_before_the_work(trained, tmp_path, capsys, monkeypatch):
    def too_late(*_, **__):
        pytest.fail("the work has begun")

    monkeypatch.setattr("translator.cli.translate.translate_lines", too_late)
    command = ["translate", "--model", str(trained), "Thank you.", "--output", str(tmp_path)]
    assert main(command) == 2
    assert f"{tmp_path}: is a directory; name a file" in capsys.readouterr().err


def test_threads_are_as_many_as_asked_for(trained, capsys):
    before = torch.get_num_threads()
    try:
        command = ["translate", "--model", str(trained), "-v", "Thank you."]
        assert main([*command, "--threads", "1"]) == 0
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    assert "translator: PyTorch on cpu, fp32, 1 thread" in capsys.readouterr().err


def test_the_device_is_the_one_asked_for(trained, capsys):
    command = ["translate", "--model", str(trained), "-v", "Thank you.", "--device"]
    assert main([*command, "auto"]) == 0
    captured = capsys.readouterr()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert f"translator: PyTorch on {device}" in captured.err
    assert captured.out == "감사합니다.\n"


@pytest.mark.fault("B04")
def test_a_setting_without_effect_is_named_once(trained, capsys):
    command = ["translate", "--model", str(trained), "Thank you.", "Thank you."]
    assert main([*command, "--set", "decoding.length_penalty=2"]) == 0
    note = "translator: decoding.length_penalty has no effect in greedy search; raise beam_size"
    assert capsys.readouterr().err == note + "\n"
    assert main([*command, "--set", "decoding.length_penalty=2", "--beam-size", "2"]) == 0
    assert capsys.readouterr().err == ""


def test_the_file_that_is_read_is_not_overwritten(tmp_path, capsys):
    path = tmp_path / "a.srt"
    path.write_text("Hi.\n")
    assert main(["translate", "--file", str(path), "--output", f"{tmp_path}/./a.srt"]) == 2
    assert "is the file to be translated; choose another name" in capsys.readouterr().err
    assert path.read_text() == "Hi.\n"


def test_a_sentence_without_quotes_is_noticed(trained, capsys):
    hint = "each word is translated by itself; put quotes around a sentence"
    for words in ("I am a student", "Where is it?"):
        assert main(["translate", "--model", str(trained), *words.split()]) == 0
        assert hint in capsys.readouterr().err
    for texts in (["I am a student"], ["Hello.", "Thank you.", "Bye."], ["Hi", "Bye"]):
        assert main(["translate", "--model", str(trained), *texts]) == 0
        assert hint not in capsys.readouterr().err


def test_a_file_of_subtitles_has_some(trained, tmp_path, capsys):
    (tmp_path / "a.srt").write_text("I am a student.\n", encoding="utf-8")
    assert main(["translate", "--model", str(trained), "--file", str(tmp_path / "a.srt")]) == 2
    assert "no subtitles found; if it is plain text, rename it" in capsys.readouterr().err
