"""Has Chromium find a server's OpenSearch description by itself and add the engine to those of its profile.

    python3 lab/clients/add_engine.py [http://127.0.0.1:8080] [chromium]

A browser without a window opens the server's first page with a profile of its own. Chromium reads the description that
the page links to and keeps the engine as one that people can choose under Settings, Search engine. That is what is
looked for here, in the profile's database; then the address that the engine has for a query is asked. What nobody does
here is the typing in the bar of addresses, which a browser without a window does not have.
"""

import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

HOST = "search.test"  # a name: Chromium keeps no engines of bare addresses


def main(base="http://127.0.0.1:8080", chromium="chromium"):
    server = urllib.parse.urlsplit(base)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}",
             f"--host-resolver-rules=MAP {HOST} {server.hostname}", f"http://{HOST}:{server.port or 80}/"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            engine = added(pathlib.Path(profile) / "Default" / "Web Data")
        finally:
            browser.terminate()
            browser.wait()
    if engine is None:
        sys.exit("Chromium did not add the engine within a minute")
    name, keyword, template, suggestions = engine
    print(f"added: {name}, keyword {keyword}, {template}, completions {suggestions}")
    for address in (template, suggestions):
        ask = address.replace("{searchTerms}", urllib.parse.quote("anchor text")).replace("{startIndex?}", "0")
        request = urllib.request.Request(ask.replace(HOST, server.hostname), headers={"Host": f"{HOST}:{server.port or 80}"})
        with urllib.request.urlopen(request) as answer:
            print(f"{answer.status} {ask}: {len(answer.read())} bytes")


def added(database):
    """The engine of HOST once it is in the profile, None if that takes too long."""
    for _ in range(60):
        time.sleep(1)
        if not database.exists():
            continue
        copy = shutil.copy(database, database.with_name("copy"))  # Chromium keeps its own locked
        try:
            with sqlite3.connect(copy) as db:
                found = db.execute("SELECT short_name, keyword, url, suggest_url FROM keywords WHERE url LIKE ?", (f"%{HOST}%",)).fetchone()
        except sqlite3.DatabaseError:  # it was being written
            continue
        if found:
            return found
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
