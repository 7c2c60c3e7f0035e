"""Calls the tools of a server with the Python SDK of the Model Context Protocol.

    python tools.py URL QUERY
    python tools.py PROGRAM DATA QUERY

The second form starts the program with the command mcp for a data folder. It has the same tools.
Connectors of chat clients need the tools search and fetch: search returns results with id, title and url, fetch a page
with id, title, text, url and metadata, both as structured content and as one text with the same in JSON.
"""

import asyncio
import json
import sys
from typing import Any

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent


def answer(result: CallToolResult) -> dict[str, Any]:
    """The answer of a tool, which is the same as structured content and as text."""
    assert not result.is_error and len(result.content) == 1, f"returned {result}"
    (text,) = result.content
    assert isinstance(text, TextContent) and json.loads(text.text) == result.structured_content, "the text is not the content"
    structured: dict[str, Any] = json.loads(text.text)
    return structured


async def main(server: str, *rest: str) -> None:
    *data, query = rest
    if data:
        transport = stdio_client(StdioServerParameters(command=server, args=["mcp", "--data", *data]))
    else:
        transport = streamable_http_client(server)
    async with transport as (read, write, *_), ClientSession(read, write) as session:
        info = (await session.initialize()).server_info
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert {"search", "fetch"} <= tools.keys(), f"tools {tools.keys()}"
        print(f"  {info.name}: {', '.join(sorted(tools))}")
        for name, argument in ("search", "query"), ("fetch", "id"):
            schema = tools[name].input_schema
            assert schema["properties"][argument]["type"] == "string" and set(schema.get("required", [])) <= {argument}, schema
            assert tools[name].output_schema, f"{name} has no schema of its answer"

        results = answer(await session.call_tool("search", {"query": query}))["results"]
        assert results and all(result[field] for result in results for field in ("id", "title", "url")), results
        print(f"  search: {len(results)} results with id, title, url")

        page = answer(await session.call_tool("fetch", {"id": results[0]["id"]}))
        assert page["id"] == results[0]["id"] and page["title"] and page["text"] and page["metadata"], page
        assert results[0]["url"].startswith(page["url"]), page["url"]
        print(f"  fetch: {page['url']}, {len(page['text'])} characters, metadata {', '.join(page['metadata'])}")

        refused = await session.call_tool("search", {"query": query, "num": 21})
        assert refused.is_error and isinstance(refused.content[0], TextContent), refused
        print(f"  num=21: {refused.content[0].text}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
