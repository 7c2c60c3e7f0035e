"""Asks a running server with two engines of searx as they are: json_engine with the settings of contrib/searxng.yml,
and searx_engine.

    apt-get install python3-searx
    python3 lab/clients/ask_searx.py http://127.0.0.1:8080 "anchor text"
"""

import os
import pathlib
import sys
import tempfile
import urllib.parse
import urllib.request

import yaml

SETTINGS = """
general: {debug: false}
search: {safe_search: 0}
server: {secret_key: none, port: 1, bind_address: 127.0.0.1, base_url: false, image_proxy: false}
ui: {static_path: "", templates_path: "", default_theme: simple, default_locale: "", theme_args: {}}
outgoing: {request_timeout: 2.0}
engines: []
locales: {en: English}
"""

with tempfile.NamedTemporaryFile("w", suffix=".yml") as settings:  # it does not load without any
    settings.write(SETTINGS)
    settings.flush()
    os.environ["SEARX_SETTINGS_PATH"] = settings.name
    from searx.engines import json_engine, searx_engine


class Response:
    def __init__(self, text):
        self.text = text


def ask(engine, query, pageno):
    """Does what searx does with an engine: request, fetch, response."""
    params = engine.request(query, {
        "method": "GET", "data": None, "headers": {}, "pageno": pageno, "language": "en", "time_range": "", "category": "general"})
    data = urllib.parse.urlencode(params["data"]).encode() if params.get("data") else None
    with urllib.request.urlopen(urllib.request.Request(params["url"], data)) as answer:
        return [r for r in engine.response(Response(answer.read().decode())) if "url" in r]


def check(name, engine, query):
    first, second = ask(engine, query, 1), ask(engine, query, 2)
    assert first and all(r["url"] and r["title"] for r in first), f"{name}: no results, or some without title"
    assert second and not {r["url"] for r in first} & {r["url"] for r in second}, f"{name}: the second page is the first"
    assert any(r["content"] for r in first), f"{name}: no text"
    print(f"{name}: {len(first)} and {len(second)} results, the first {first[0]['url']}")


base, query = sys.argv[1].rstrip("/"), sys.argv[2]
contrib = pathlib.Path(__file__).parents[2] / "contrib" / "searxng.yml"
for key, value in yaml.safe_load(contrib.read_text())["engines"][0].items():
    setattr(json_engine, key, value)
json_engine.search_url = json_engine.search_url.replace("http://127.0.0.1:8080", base)
check("json_engine", json_engine, query)
searx_engine.instance_urls = [base + "/search"]
check("searx_engine", searx_engine, query)
