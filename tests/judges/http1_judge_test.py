# SPDX-License-Identifier: BSL-1.0
import pytest
from http1_corpus import CORPUS, Case
from http1_judge import Answer, Broken, Exchange, is_right, read_answers

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
REFUSAL = Case("refusal", "", b"")
LEGAL = Case("legal", "", b"", 2)
LENIENT = Case("lenient", "", b"", lenient=True, answers_if_lenient=1)


def test_each_case_has_a_name_of_its_own_and_a_clause():
    assert len({case.name for case in CORPUS}) == len(CORPUS)
    assert all(case.clause.startswith("RFC 91") for case in CORPUS)


@pytest.mark.parametrize("cut", range(len(OK)))
def test_an_answer_that_is_not_whole_is_none_yet(cut):
    assert read_answers(OK[:cut], [b"GET"], ended=False) == []


def test_answers_are_counted_whatever_ends_their_bodies():
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    to_head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    until_closed = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nno"

    found = read_answers(OK + chunked + to_head + until_closed, [b"GET", b"GET", b"HEAD", b"GET"], ended=True)

    assert found == [Answer(200, False)] * 3 + [Answer(400, True)]


def test_an_interim_answer_is_none():
    assert len(read_answers(b"HTTP/1.1 100 Continue\r\n\r\n" + OK, [b"POST"], ended=False)) == 1


@pytest.mark.parametrize("data", [
    b"hello", b"HTTP/2.0 200 OK\r\n\r\n", OK + b"more", b"HTTP/1.1 20 OK\r\n\r\n"])
def test_what_is_no_answer_is_said_so(data):
    with pytest.raises(Broken):
        read_answers(data, [b"GET"], ended=True)


@pytest.mark.parametrize(("case", "statuses", "closed", "right"), [
    (REFUSAL, [400], True, True),
    (REFUSAL, [400], False, False),         # Left open, what follows is read as a request.
    (REFUSAL, [200], True, False),
    (REFUSAL, [400, 200], True, False),     # Smuggled.
    (REFUSAL, [500], True, False),
    (REFUSAL, [], True, False),
    (LEGAL, [200, 404], False, True),
    (LEGAL, [200], False, False),
    (LEGAL, [200, 200, 200], False, False),
    (LEGAL, [200, 400], True, False),
    (LENIENT, [200], False, True),
    (LENIENT, [400], True, True),
    (LENIENT, [200, 200], False, False),
])
def test_verdicts(case, statuses, closed, right):
    assert is_right(case, Exchange([Answer(each, False) for each in statuses], closed)) == right
