"""Attestations are what other people's libraries take them for."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from outstep import cli
from outstep.evidence.attestation import envelope
from outstep.evidence.signing import PublicKey, SigningKey
from tests.command_line import ROOT

REFUND = ROOT / "examples" / "refund"
CONTRACT = REFUND / "dsh-refund.yaml"
KEY = SigningKey.generate()

Done = tuple[int, str, str]
Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"OUTSTEP_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key.pem").write_bytes(KEY.pem)
    (tmp_path / "public.pem").write_bytes(KEY.public.pem)
    for name in ("good", "duplicate-refund", "crashed"):
        if (REFUND / "recordings" / name).is_dir():
            shutil.copytree(REFUND / "recordings" / name, tmp_path / "runs" / name)

    def command(*words: str) -> Done:
        code = cli.main(words)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


def checked(run: Run, name: str, *more: str) -> int:
    words = (f"runs/{name}", "-c", str(CONTRACT), "--output", "json=report.json")
    return run("check", *words, "--attest", "gate.json", "--key", "key.pem", *more)[0]


def payload(file: str = "gate.json") -> Any:
    return json.loads(base64.b64decode(json.loads(Path(file).read_bytes())["payload"]))


def test_an_independent_library_verifies_the_envelope(run: Run) -> None:
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

    assert checked(run, "good") == 0
    raw = base64.b64decode("".join(KEY.public.pem.decode().splitlines()[1:-1]))[-32:]
    key = SSlibKey(KEY.public.id, "ed25519", "ed25519", {"public": raw.hex()})
    told = Envelope.from_dict(json.loads(Path("gate.json").read_bytes()))
    assert list(told.verify([key], 1)) == [KEY.public.id]
    told.payload = told.payload.replace(b"PASSED", b"WARNED") + b" "
    with pytest.raises(VerificationError):
        told.verify([key], 1)


def test_an_independent_library_reads_the_statement(run: Run) -> None:
    from google.protobuf.json_format import ParseDict
    from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult
    from in_toto_attestation.v1.statement import Statement
    from in_toto_attestation.v1.statement_pb2 import Statement as Wire

    assert checked(run, "duplicate-refund") == 1
    # Unknown members would be refused.
    told = Statement.copy_from_pb(ParseDict(payload(), Wire()))
    told.validate()
    result = ParseDict(payload()["predicate"], TestResult())
    assert result.result == "FAILED"
    assert "dsh-refund/NO_DUPLICATE_REFUND" in result.failed_tests
    assert "dsh-refund/VERIFY_BEFORE_REFUND" in result.passed_tests
    assert not set(result.failed_tests) & {*result.passed_tests, *result.warned_tests}


def test_it_is_about_the_bytes_of_report_sessions_and_contracts(run: Run) -> None:
    assert checked(run, "good") == 0
    digests = {one["name"]: one["digest"]["sha256"] for one in payload()["subject"]}
    (session,) = Path("runs/good").iterdir()
    assert digests["report.json"] == sha256(Path("report.json").read_bytes()).hexdigest()
    assert digests[str(session)] == sha256(session.read_bytes()).hexdigest()
    assert digests["dsh-refund/dsh-refund.yaml"] == sha256(CONTRACT.read_bytes()).hexdigest()
    words = ("gate.json", str(session), str(CONTRACT), "--report", "report.json", "--key", "public.pem", "--passed")
    code, out, _ = run("evidence", "verify-attestation", *words)
    assert (code, out.splitlines()[-1]) == (0, "verdict: holds")
    assert "it is about 4 files; 3 were held against it here" in out


def test_equal_runs_give_equal_bytes(run: Run) -> None:
    checked(run, "good")
    first = Path("gate.json").read_bytes()
    checked(run, "good")
    assert Path("gate.json").read_bytes() == first


def test_what_is_not_decided_has_not_passed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "open.yaml").write_text(
        "outstep: contract/v1\nid: open\ntools: {pay: {}, ask: {}}\n"
        "rules:\n  - {id: NEVER_USED, never: call pay}\n"
        "  - {id: ASKED, needs: {before: call pay, first: call ask}}\n"
    )
    (tmp_path / "cut.jsonl").write_text(
        '{"type":"trace","schema":"trace/v1","id":"t"}\n{"type":"gap","seq":1,"may_hide":["tool.call"],"reason":"cut"}\n'
    )
    code = run("check", "cut.jsonl", "-c", "open.yaml", "--attest", "gate.json", "--key", "key.pem")[0]
    assert code in (2, 3)
    assert payload()["predicate"]["result"] == "FAILED"
    assert payload()["subject"][0]["annotations"]["exitCode"] == code
    code, out, _ = run("evidence", "verify-attestation", "gate.json", "--key", "public.pem", "--passed")
    assert code == 1
    assert "error[evidence/not-passed]: the result is FAILED" in out


def test_a_rule_that_nothing_triggered_stands_nowhere(run: Run) -> None:
    assert checked(run, "good") == 0
    report = json.loads(Path("report.json").read_bytes())
    vacuous = {f"{one['contract']}/{one['rule']}" for one in report["rules"] if one["vacuous"] and not one["satisfied"]}
    told = payload()["predicate"]
    assert vacuous.isdisjoint({*told["passedTests"], *told["warnedTests"], *told["failedTests"]})


def test_reports_and_sealed_verdicts_are_attested_alike(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    checked(run, "good")
    monkeypatch.setenv("OUTSTEP_SIGNING_KEY", KEY.pem.decode())
    assert run("evidence", "attest", "report.json", "--file", "again.json")[0] == 0
    assert payload("again.json")["predicate"]["passedTests"] == payload()["predicate"]["passedTests"]
    assert payload("again.json")["subject"] == payload()["subject"][:2]
    monkeypatch.setenv("OUTSTEP_STORE", "store")
    assert run("evidence", "init", "store")[0] == 0
    assert run("evidence", "add", "runs/good", "-c", str(CONTRACT))[0] == 0
    assert run("evidence", "attest", "--entry", "0", "--file", "sealed.json")[0] == 0
    names = [one["name"] for one in payload("sealed.json")["subject"]]
    assert names == ["report.json", "runs/good/session.v4.jsonl.zstd", "dsh-refund/dsh-refund.yaml", "pack:integrity"]
    digest = payload("sealed.json")["subject"][0]["digest"]["sha256"]
    assert json.loads(run("evidence", "show", "0")[1])["judged"]["report"] == digest
    assert run("evidence", "verify-attestation", "sealed.json", "--key", "public.pem")[0] == 0


def test_another_file_another_report_and_another_key_are_told(run: Run, tmp_path: Path) -> None:
    checked(run, "good")
    other = SigningKey.generate()
    (tmp_path / "other.pem").write_bytes(other.public.pem)
    code, out, _ = run("evidence", "verify-attestation", "gate.json", "--key", "other.pem")
    assert (code, "error[evidence/bad-signature]" in out) == (1, True)
    assert run("evidence", "verify-attestation", "gate.json", "--key", "other.pem", "--key", "public.pem")[0] == 0
    (tmp_path / "other.yaml").write_text("id: x\n")
    code, out, _ = run("evidence", "verify-attestation", "gate.json", "other.yaml", "--key", "public.pem")
    assert (code, "`other.yaml` is not among the files that it is about" in out) == (1, True)
    Path("gate.json").rename("passed.json")
    checked(run, "duplicate-refund")
    words = ("passed.json", "--report", "report.json", "--key", "public.pem")
    code, out, _ = run("evidence", "verify-attestation", *words)
    assert code == 1
    assert {"evidence/not-attested", "evidence/changed-verdict"} == set(re.findall(r"error\[(.*?)\]", out))


def changed(data: Any, **members: Any) -> bytes:
    return json.dumps({**data, **members}).encode()


def test_what_is_no_attestation_is_told_in_a_line(run: Run) -> None:
    checked(run, "good")
    told = json.loads(Path("gate.json").read_bytes())
    (good,) = told["signatures"]
    statement = base64.b64decode(told["payload"])
    strange = statement.replace(b"test-result/v0.1", b"test-result/v9")
    odd = statement.replace(b'"digest":{', b'"digest":[{').replace(
        b'"},"name":"report.json"', b'"}],"name":"report.json"'
    )
    for code, data in (
        (2, b""),
        (2, b"[]"),
        (2, b"[" * 100_000),
        (2, b"\xff" * 9),
        (2, changed(told, payload="%")),
        (2, changed(told, payloadType="text/plain")),
        (2, changed(told, signatures=[{"keyid": good["keyid"], "sig": "%"}])),
        (1, changed(told, signatures=[])),
        (1, changed(told, signatures=[{**good, "sig": base64.b64encode(b"x" * 64).decode()}])),
        (1, changed(told, payload=base64.b64encode(strange).decode())),
        # The name of the key is a hint, and nothing that is signed.
        (0, changed(told, signatures=[{**good, "keyid": "someone else"}])),
        (0, changed(told, signatures=[{"sig": base64.b64encode(b"x" * 64).decode()}, {"sig": good["sig"]}])),
        (2, envelope(strange, KEY)),
        (2, envelope(odd, KEY)),
        (2, envelope(b"{}", KEY)),
    ):
        Path("odd.json").write_bytes(data)
        done, out, err = run("evidence", "verify-attestation", "odd.json", "--key", "public.pem")
        assert done == code, (data[:80], out, err)
        assert "Traceback" not in err
        assert code != 2 or err.startswith("error[evidence/bad-attestation]"), err


def test_any_changed_byte_of_what_was_signed_is_noticed(run: Run) -> None:
    checked(run, "good")
    told = json.loads(Path("gate.json").read_bytes())
    statement = base64.b64decode(told["payload"])
    for place in range(0, len(statement), 97):
        other = statement[:place] + bytes([statement[place] ^ 1]) + statement[place + 1 :]
        Path("odd.json").write_bytes(changed(told, payload=base64.b64encode(other).decode()))
        assert run("evidence", "verify-attestation", "odd.json", "--key", "public.pem")[0] == 1


def test_what_cannot_be_signed_is_told_before_anything_is_checked(run: Run, tmp_path: Path) -> None:
    words = ("check", "runs/good", "-c", str(CONTRACT))
    for more, code in (
        (("--attest", "gate.json"), "evidence/no-key"),
        (("--attest", "-", "--key", "key.pem"), "usage/arguments"),
        (("--attest", "gate.json", "--key", "public.pem"), "evidence/bad-key"),
        (("--key", "key.pem"), "usage/arguments"),
        (("--attest", str(CONTRACT), "--key", "key.pem"), "usage/arguments"),
        (("--attest", "g", "--output", "json=g", "--key", "key.pem"), "usage/arguments"),
    ):
        done, out, err = run(*words, *more)
        assert (done, out) == (2, ""), more
        assert f"error[{code}]" in err
    done, out, err = run(*words, "--attest", str(tmp_path / "none" / "gate.json"), "--key", "key.pem")
    assert (done, "cannot be written" in err, "pass" in out.lower()) == (2, True, True)


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "jq", "openssl"))), reason="needs jq and openssl")
@pytest.mark.parametrize("is_changed", [False, True])
def test_the_steps_by_hand_do_what_the_page_says(run: Run, tmp_path: Path, is_changed: bool) -> None:
    checked(run, "good")
    if is_changed:
        (tmp_path / "public.pem").write_bytes(SigningKey.generate().public.pem)
    page = (ROOT / "docs" / "attestations.md").read_text("utf-8")
    (script,) = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ("Signature Verified Successfully" in done.stdout) is not is_changed
    assert "PASSED\n" in done.stdout or "WARNED\n" in done.stdout
    assert f"{sha256(CONTRACT.read_bytes()).hexdigest()}  dsh-refund/dsh-refund.yaml\n" in done.stdout
    assert PublicKey.read(KEY.public.pem, "key").id == KEY.public.id
