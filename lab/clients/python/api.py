"""Searches a server with the client that openapi-python-client generates as the package anatomy_client.

    python api.py URL QUERY FOLDER

The URLs of the results are written to FOLDER/python.txt, one a line.
"""

import json
import pathlib
import sys

from anatomy_client import Client
from anatomy_client.api.default import batch, export, search
from anatomy_client.models import Batch, BatchSearchesItem, Error, ExportEnd, Result, Search
from anatomy_client.types import UNSET, Unset


def pages(client: Client, query: str, grouped: bool) -> tuple[list[Search], list[str]]:
    """The answers to a query and the URLs of their results, to the end, by the cursor."""
    answers: list[Search] = []
    cursor: str | Unset = UNSET
    while not answers or cursor:
        answer = search.sync(client=client, q=query, num=20, cursor=cursor, filter_=grouped)
        assert isinstance(answer, Search), f"search returned {answer}"
        answers.append(answer)
        cursor = answer.next_cursor
    return answers, [result.url for answer in answers for result in answer.results]


def exported(client: Client, query: str) -> tuple[list[Result], ExportEnd]:
    text = export.sync(client=client, q=query)
    assert isinstance(text, str), f"export returned {text}"
    *lines, end = text.splitlines()
    return [Result.from_dict(json.loads(line)) for line in lines], ExportEnd.from_dict(json.loads(end))


def main(url: str, query: str, folder: str) -> None:
    client = Client(base_url=url, raise_on_unexpected_status=True)
    answers, urls = pages(client, query, True)
    total = answers[0].total
    assert total.relation.value == "eq" and len(urls) == len(set(urls)) == total.value, f"{len(urls)} results of {total}"
    assert len(answers) > 1, f"{query!r} has one page of results, so that no cursor is followed"
    print(f"  search: {len(urls)} results on {len(answers)} pages, total {total.value}")

    lines, end = exported(client, query)
    _, ungrouped = pages(client, query, False)
    assert end.done and end.results == len(lines) == total.value, f"{len(lines)} lines, total {total}: {end}"
    assert [line.url for line in lines] == ungrouped, "the export has other URLs than the search with filter=false"
    print(f"  export: {len(lines)} lines, in the order of the search with filter=false")

    several = batch.sync(client=client, body=Batch(searches=[BatchSearchesItem(q=query), BatchSearchesItem(q="", num=3)]))
    assert not isinstance(several, Error) and several is not None, f"batch returned {several}"
    first, second = several.answers
    assert isinstance(first, Search) and first.total == total and isinstance(second, Error), f"batch returned {several}"
    print(f"  batch: total {first.total.value}, and the error {second.error.code}")

    refused = search.sync_detailed(client=client, q=query, num=101)
    assert refused.status_code == 400 and isinstance(refused.parsed, Error), f"num=101 returned {refused}"
    print(f"  num=101: {refused.status_code.value} {refused.parsed.error.code}: {refused.parsed.error.message}")
    pathlib.Path(folder, "python.txt").write_text("".join(f"{url}\n" for url in urls))


if __name__ == "__main__":
    main(*sys.argv[1:])
