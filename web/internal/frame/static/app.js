// Keys on top of a page that works without them: / to the box, j and k from result to result,
// n and p from page to page, ? for a list of them. Enter on a focused title is the browser's own. In
// the box, completions of what was typed: arrows move, Enter searches, Escape gives back what was
// typed. Who prefers it gets results while typing. The lists of preferences are filtered while typing.
(() => {
  "use strict";
  const root = new URL("..", document.currentScript.src); // of the site: a proxy may have put it below a path
  document.documentElement.classList.add("js");
  const box = document.getElementById("q");
  const follow = (rel) => document.querySelector(`.pager a[rel=${rel}]`)?.click();
  const move = (by) => {
    const titles = [...document.querySelectorAll(".hit h2 a, .look")];
    const at = titles.indexOf(document.activeElement);
    const to = at < 0 ? (by > 0 ? 0 : -1) : at + by;
    if (!titles[to]) return;
    titles[to].focus();
    titles[to].closest(".hit, .picture").scrollIntoView({ block: "nearest" });
  };
  const keys = {
    "/": () => { box?.focus(); box?.select(); },
    j: () => move(1),
    k: () => move(-1),
    n: () => follow("next"),
    p: () => follow("prev"),
    "?": () => document.getElementById("keys").showModal(),
  };
  for (const tab of document.querySelectorAll(".kinds [aria-current]")) { // may be beyond the edge of a phone
    const row = tab.parentElement, at = tab.getBoundingClientRect();
    row.scrollLeft += at.left + at.width / 2 - innerWidth / 2;
  }
  if (box) complete(box);
  const site = document.getElementById("site"), match = document.getElementById("match");
  if (site?.list) offer(site);
  if (match && document.querySelector(".lists")) filter(match);
  document.getElementById("share")?.addEventListener("focus", (e) => e.target.select());
  for (const kind of ["click", "auxclick"]) document.addEventListener(kind, opened);
  if (box && "instant" in document.documentElement.dataset) instant(box);
  document.addEventListener("click", (e) => closeMenus(e.target.closest?.(".menu")));
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape") closeMenus();
    if (e.target.closest("input, textarea, select")) {
      if (e.key === "Escape") e.target.blur();
      return;
    }
    if (Object.hasOwn(keys, e.key)) {
      e.preventDefault();
      keys[e.key]();
    }
  });

  // closeMenus closes the menus of results but one. The focus goes from within a menu to its button.
  function closeMenus(but) {
    for (const menu of document.querySelectorAll(".menu[open]")) {
      if (menu === but) continue;
      if (menu.contains(document.activeElement)) menu.firstElementChild.focus();
      menu.open = false;
    }
  }

  // opened reports a result that was opened, where the server counts these.
  function opened(e) {
    const link = e.button < 2 && e.target.closest(".hits[data-opened] .hit h2 a");
    if (!link) return;
    const list = link.closest(".hits");
    const place = list.start + [...list.children].indexOf(link.closest(".hit"));
    const url = link.href.split("#")[0];
    navigator.sendBeacon(new URL("opened", root), new URLSearchParams({ q: list.dataset.opened, url, place }));
  }

  // offer puts the hosts of the collection that continue what is typed into the list of a field, and
  // makes pasted lines words.
  function offer(field) {
    const first = [...field.list.children];
    let timer = 0, asking = null;
    const ask = async () => {
      asking?.abort();
      asking = new AbortController();
      const typed = field.value.split(/[\s,]/).pop();
      const before = field.value.slice(0, field.value.length - typed.length);
      if (!typed) return field.list.replaceChildren(...(before ? [] : first));
      try {
        const answer = await fetch(new URL(`suggest?q=${encodeURIComponent(`site:${typed}`)}`, root), { signal: asking.signal });
        const texts = answer.ok ? (await answer.json())[1] : [];
        field.list.replaceChildren(...texts.map((text) => new Option("", before + text.replace(/^site:/, ""))));
      } catch { /* aborted, or no server: the field works without */ }
    };
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(ask, 60);
    });
    field.addEventListener("paste", (e) => {
      const text = e.clipboardData.getData("text");
      if (!text.includes("\n")) return;
      e.preventDefault();
      field.setRangeText(text.trim().split(/\s+/).join(" "), field.selectionStart, field.selectionEnd, "end");
    });
  }

  // filter hides the sites without the text that is typed.
  function filter(field) {
    const show = () => {
      for (const list of document.querySelectorAll(".lists section")) {
        const rows = [...list.querySelectorAll("li")];
        for (const row of rows) row.hidden = !row.firstChild.textContent.includes(field.value.trim().toLowerCase());
        list.hidden = rows.every((row) => row.hidden);
      }
    };
    field.addEventListener("input", show);
    show();
  }

  // instant puts the results of what is typed in the place of the page, once typing rests.
  function instant(box) {
    let timer = 0, asking = null;
    const show = async () => {
      asking?.abort();
      asking = new AbortController();
      const typed = new URLSearchParams(new FormData(box.form));
      if (!typed.get("q").trim()) return;
      try {
        const address = new URL(`search?${typed}`, root);
        const answer = await fetch(address, { signal: asking.signal });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (!answer.ok || new URLSearchParams(new FormData(box.form)).toString() !== typed.toString()) return;
        if (!document.querySelector(".top")) { // on the search page, where the box is in the middle
          location.assign(address);
          return;
        }
        document.getElementById("main").replaceChildren(...page.getElementById("main").childNodes);
        document.title = page.title;
        document.body.className = page.body.className;
        history.replaceState(null, "", address);
      } catch { /* aborted, or no server */ }
    };
    box.addEventListener("input", (e) => {
      clearTimeout(timer);
      if (!e.isComposing) timer = setTimeout(show, 250);
    });
  }

  function complete(box) {
    const list = document.createElement("ul");
    list.id = "completions";
    list.className = "completions";
    list.hidden = true;
    for (const [name, value] of [["role", "listbox"], ["aria-label", box.form.dataset.completions]]) list.setAttribute(name, value);
    for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", list.id], ["aria-expanded", "false"]]) box.setAttribute(name, value);
    box.form.append(list);
    let typed = "", at = -1, timer = 0, asking = null;

    const show = (open) => {
      list.hidden = !open;
      box.setAttribute("aria-expanded", String(open));
      if (!open) mark(-1);
    };
    const mark = (to) => {
      at = to;
      [...list.children].forEach((li, i) => li.setAttribute("aria-selected", String(i === at)));
      if (at < 0) box.removeAttribute("aria-activedescendant");
      else box.setAttribute("aria-activedescendant", list.children[at].id);
    };
    const fill = (texts) => {
      list.replaceChildren(...texts.map((text, i) => {
        const li = document.createElement("li");
        li.id = `completion-${i}`;
        li.role = "option";
        li.dir = "auto";
        li.textContent = text;
        return li;
      }));
      mark(-1);
      show(texts.length > 0 && document.activeElement === box);
    };
    const ask = async () => {
      asking?.abort();
      asking = new AbortController();
      typed = box.value;
      if (!typed.trim() || typed.length > 200) return fill([]);
      try {
        const answer = await fetch(new URL(`suggest?q=${encodeURIComponent(typed)}`, root), { signal: asking.signal });
        const texts = answer.ok ? (await answer.json())[1] : [];
        if (box.value === typed) fill(texts);
      } catch { /* aborted, or no server: the box works without */ }
    };
    const step = (by) => {
      const to = Math.max(-1, Math.min(at + by, list.children.length - 1));
      mark(to);
      box.value = to < 0 ? typed : list.children[to].textContent;
    };
    box.addEventListener("input", (e) => {
      clearTimeout(timer);
      if (!e.isComposing) timer = setTimeout(ask, 60);
    });
    box.addEventListener("compositionend", ask);
    box.addEventListener("blur", () => { clearTimeout(timer); asking?.abort(); show(false); });
    box.addEventListener("keydown", (e) => {
      if (e.isComposing || list.hidden) return;
      const act = { ArrowDown: () => step(1), ArrowUp: () => step(-1), Escape: () => { box.value = typed; show(false); } }[e.key];
      if (!act) return;
      act();
      e.preventDefault();
      e.stopPropagation();
    });
    list.addEventListener("pointerdown", (e) => e.preventDefault()); // the box keeps the focus
    list.addEventListener("click", (e) => {
      const li = e.target.closest("li");
      if (!li) return;
      box.value = li.textContent;
      box.form.requestSubmit();
    });
  }
})();
