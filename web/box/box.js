// The search box for other sites, described in doc/own-site.md: the element <anatomy-search>, a
// button and a dialogue with results while typing. It inserts texts as text, and no style element
// or attribute, so that a content security policy needs to name the search server only.
(() => {
  "use strict";
  const script = document.currentScript;
  const supported =
    "adoptedStyleSheets" in Document.prototype &&
    "HTMLDialogElement" in window &&
    "canParse" in URL &&
    CSS.supports("color", "light-dark(#000, #fff)");
  if (!supported || customElements.get("anatomy-search")) return; // the page's form stays

  const labels = JSON.parse("{{labels}}"); // in the language of the parameter lang, put in by the server
  const mac = /Mac|iPhone|iPad/.test(navigator.platform);
  const isCommand = (e) => (mac ? e.metaKey : e.ctrlKey) && e.key.toLowerCase() === "k";
  const isComposing = (e) => e.isComposing || e.keyCode === 229; // 229: the Enter that ends it, in Safari
  const boxes = new Set();
  const maxRecent = 5,
    wait = 120; // ms of rest before a request

  const css = "{{css}}"; // box.css, put in by the server
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);

  // make returns an element with attributes and children, texts as text.
  function make(name, attributes = {}, ...children) {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  }

  function lens() {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M15.5 15.5 21 21");
    svg.append(path);
    return svg;
  }

  // where returns the host and the folders of a URL.
  function where(url) {
    const steps = url.pathname
      .split("/")
      .filter(Boolean)
      .map((step) => {
        try {
          return decodeURIComponent(step);
        } catch {
          return step;
        }
      });
    return [url.host, ...steps].join(" › ");
  }

  // trim removes white space, and the zero-width space that links to headings often have.
  const trim = (text) => text.replace(/^[\s\u200b]+|[\s\u200b]+$/g, "");

  // webURL returns a URL that may become a link, else null.
  function webURL(raw) {
    const url = URL.canParse(raw) ? new URL(raw) : null;
    return url && /^https?:$/.test(url.protocol) ? url : null;
  }

  const isTyping = (e) => {
    const at = e.composedPath()[0];
    return at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName);
  };

  class AnatomySearch extends HTMLElement {
    connectedCallback() {
      const server = this.dataset.server || script?.src;
      if (!server) return;
      this.root = new URL(".", new URL(server, document.baseURI));
      if (!this.shadowRoot) this.build();
      boxes.add(this);
    }

    disconnectedCallback() {
      this.stop();
      boxes.delete(this);
    }

    label(name, values = {}) {
      const own = this.dataset["label" + name[0].toUpperCase() + name.slice(1)];
      return (own ?? labels[name]).replace(/\{(\w+)\}/g, (all, key) => values[key] ?? all);
    }

    build() {
      const shadow = this.attachShadow({ mode: "open" });
      shadow.adoptedStyleSheets = [sheet];
      const on = (e, type, act) => {
        e.addEventListener(type, act);
        return e;
      };
      this.button = on(
        make(
          "button",
          { class: "open", part: "button", type: "button", "aria-haspopup": "dialog" },
          lens(),
          this.label("button"),
          make("kbd", { "aria-hidden": "true" }, mac ? "⌘K" : "Ctrl K"),
        ),
        "click",
        () => this.open(),
      );
      this.input = make("input", {
        role: "combobox",
        type: "text",
        "aria-autocomplete": "list",
        "aria-expanded": "false",
        "aria-controls": "list",
        "aria-label": this.label("placeholder"),
        placeholder: this.label("placeholder"),
        dir: "auto",
        autocomplete: "off",
        autocapitalize: "off",
        spellcheck: "false",
        enterkeyhint: "search",
        maxlength: "500",
      });
      on(this.input, "input", (e) => {
        if (!e.isComposing) this.later();
      });
      on(this.input, "compositionend", () => this.later());
      const shut = on(
        make("button", { class: "shut", type: "button" }, this.label("close")),
        "click",
        () => this.dialog.close(),
      );
      this.list = make("div", {
        id: "list",
        role: "listbox",
        "aria-label": this.label("list"),
        hidden: "",
      });
      this.kept = make(
        "div",
        { class: "kept", hidden: "" },
        make("span", {}, this.label("recent")),
        on(make("button", { type: "button" }, this.label("clear")), "click", () => this.forget()),
      );
      this.say = make("p", { class: "say", part: "message", role: "status" });
      this.status = make("span", { role: "status" });
      this.all = on(make("a", { part: "all", hidden: "" }), "click", () => this.remember());
      this.dialog = make(
        "dialog",
        { part: "dialog", "aria-label": this.label("dialog") },
        make("div", { class: "head" }, lens(), this.input, shut),
        make("div", { class: "body", part: "body" }, this.kept, this.say, this.list),
        make("div", { class: "foot" }, this.status, make("kbd", { "aria-hidden": "true" }, "↑ ↓ ↵ Esc"), this.all),
      );
      on(this.dialog, "click", (e) => {
        if (e.target === this.dialog) this.dialog.close();
      });
      on(this.dialog, "keydown", (e) => this.key(e));
      on(this.dialog, "close", () => {
        this.stop();
        if (this.failed) this.fallBack();
      });
      on(this.list, "mousemove", (e) =>
        this.mark(this.options.indexOf(e.target.closest("[role=option]")), false),
      );
      on(this.list, "click", (e) => this.choose(e));
      this.options = [];
      this.active = -1;
      this.button.hidden = "noButton" in this.dataset;
      shadow.append(this.button, this.dialog);
    }

    open() {
      if (this.dialog.open) return;
      this.dialog.showModal();
      this.input.focus();
      this.input.select();
      if (!this.typed()) this.showRecent();
      else if (this.answered !== this.typed()) this.later();
    }

    // fallBack shows the form within the element in place of the button, if there is one.
    fallBack() {
      if (!this.childElementCount || this.shadowRoot.querySelector("slot")) return;
      this.button.hidden = true;
      this.shadowRoot.append(make("slot"));
    }

    // key handles a key that is pressed in the dialogue; the page's own shortcuts do not get it.
    key(e) {
      e.stopPropagation();
      if (isComposing(e)) return;
      if (isCommand(e)) {
        this.dialog.close();
        e.preventDefault();
      }
      if (e.key === "Tab") return this.trap(e);
      if (e.target !== this.input) return;
      const n = this.options.length;
      if (n && e.key === "ArrowDown") this.mark((this.active + 1) % n, true);
      else if (n && e.key === "ArrowUp") this.mark((this.active < 1 ? n : this.active) - 1, true);
      else if (e.key === "Enter") this.enter(e);
      else return;
      e.preventDefault();
    }

    // trap keeps the focus in the dialogue.
    trap(e) {
      const stops = [...this.dialog.querySelectorAll("input, button, a[href]:not([role])")].filter(
        (s) => s.checkVisibility(),
      );
      const at = stops.indexOf(this.shadowRoot.activeElement) + (e.shiftKey ? -1 : 1);
      stops.at(at % stops.length).focus();
      e.preventDefault();
    }

    enter(e) {
      const option = this.options[this.active];
      if (!option || this.answered !== this.typed()) {
        // nothing, or the answer to an earlier text
        if (this.typed()) this.all.click();
      } else if (option.href && (e.ctrlKey || e.metaKey)) {
        this.remember();
        window.open(option.href, "_blank", "noopener");
      } else {
        option.click();
      }
    }

    choose(e) {
      const option = e.target.closest("[role=option]");
      if (!option) return;
      if (!option.href) {
        // a recent search, or a spelling
        this.input.value = option.dataset.q ?? option.textContent;
        this.input.focus();
        this.later();
        return;
      }
      this.remember();
      if (!(e.ctrlKey || e.metaKey || e.shiftKey)) this.dialog.close();
    }

    mark(to, scroll) {
      if (to === this.active) return;
      this.options[this.active]?.setAttribute("aria-selected", "false");
      this.active = to;
      const option = this.options[to];
      if (!option) return this.input.removeAttribute("aria-activedescendant");
      option.setAttribute("aria-selected", "true");
      this.input.setAttribute("aria-activedescendant", option.id);
      if (scroll) option.scrollIntoView({ block: "nearest" });
    }

    typed() {
      return this.input.value.trim().replace(/\s+/g, " ");
    }

    // address returns the address of the search page for what is typed, or of the box's results.
    address(path) {
      const url = new URL(path, this.root),
        q = this.typed(),
        site = this.dataset.site;
      if (path === "search") url.searchParams.set("q", site ? `site:${site} ${q}` : q);
      else {
        url.searchParams.set("q", this.input.value);
        if (site) url.searchParams.set("site", site);
      }
      return url;
    }

    stop() {
      clearTimeout(this.timer);
      this.asking?.abort();
    }

    later() {
      this.stop();
      if (!this.typed()) return this.showRecent();
      this.all.href = this.address("search");
      this.all.hidden = false;
      this.timer = setTimeout(() => this.ask(), wait);
    }

    async ask() {
      const { signal } = (this.asking = new AbortController());
      try {
        const answer = await fetch(this.address("box/search"), { signal, credentials: "omit" });
        if (!answer.ok) return this.fail(answer.status === 429 || answer.status === 503);
        const found = await answer.json();
        if (!signal.aborted) this.show(found);
      } catch {
        if (!signal.aborted) this.fail(false);
      }
    }

    // fail shows the way to the search page. The box stays in use if the server is only busy.
    fail(busy) {
      this.failed = !busy;
      this.answered = null;
      this.fill([], this.label(busy ? "busy" : "failed"));
    }

    show(found) {
      this.failed = false;
      this.answered = this.typed();
      this.words = new Set(this.answered.toLowerCase().split(" "));
      const texts = (mark) =>
        found.results.flatMap((r) => r.snippet.filter((f) => f.mark === mark).map((f) => f.text.toLowerCase()));
      for (const text of texts(false)) // function words, which snippets do not mark
        for (const word of text.split(/[^\p{L}\p{N}]+/u)) this.words.delete(word);
      for (const text of texts(true)) this.words.add(text);
      const groups = found.results.map((result) => this.group(result)).filter(Boolean);
      const { corrected, suggestion } = found;
      const some = groups.length > 0;
      if (suggestion) {
        const text = this.label("meant", { q: suggestion });
        groups.unshift(this.option("div", { dir: "auto", "data-q": suggestion }, text));
      }
      if (!some) this.fill(groups, this.label("none", { q: this.answered }));
      else this.fill(groups, corrected ? this.label("corrected", { q: corrected }) : "");
      const n = found.total.value.toLocaleString();
      this.status.textContent = some
        ? this.label("results", { n: n + (found.total.relation === "gte" ? "+" : "") })
        : "";
    }

    // group returns a page and its sections.
    group(result) {
      const url = webURL(result.url);
      if (!url) return null;
      const snippet = () => {
        const text = make("span", { class: "text", dir: "auto" });
        for (const f of result.snippet) text.append(f.mark ? make("mark", {}, f.text) : f.text);
        return text;
      };
      const group = make("div", { role: "group", "aria-label": result.title || url.href });
      const page = this.option(
        "a",
        { href: url.href },
        make("span", { class: "name", dir: "auto" }, ...this.marked(result.title || url.href)),
        make("span", { class: "where", dir: "ltr" }, where(url)),
      );
      if (result.pinned) {
        const pin = [this.label("pinned"), result.note].filter(Boolean).join(": ");
        page.append(make("span", { class: "text pin", dir: "auto" }, pin));
      }
      group.append(page);
      if (!result.section) page.append(snippet());
      for (const section of [result.section, ...(result.sections ?? [])]) {
        if (!section || !webURL(section.url)) continue;
        const name = make("span", { class: "name", dir: "auto" });
        (section.path ?? []).map(trim).forEach((heading, i) => {
          if (i > 0 || !trim(result.title).startsWith(heading)) // not the title once more
            name.append(make("span", { class: "way" }, heading + " › "));
        });
        name.append(...this.marked(trim(section.heading)));
        const option = this.option("a", { class: "sub", href: section.url }, name);
        if (section === result.section) option.append(snippet());
        group.append(option);
      }
      return group;
    }

    // marked returns a text with the words marked that were found, or typed and not left unmarked in snippets.
    marked(text) {
      return text
        .split(/([\p{L}\p{N}]+)/u)
        .map((part) => (this.words.has(part.toLowerCase()) ? make("mark", {}, part) : part));
    }

    option(name, attributes, ...children) {
      return make(
        name,
        { role: "option", part: "option", tabindex: "-1", "aria-selected": "false", ...attributes },
        ...children,
      );
    }

    // fill shows options, or a message.
    fill(children, message) {
      this.mark(-1);
      this.list.replaceChildren(...children);
      this.options = [...this.list.querySelectorAll("[role=option]")];
      this.options.forEach((option, i) => {
        option.id = `option-${i}`;
      });
      this.list.hidden = !this.options.length;
      this.input.setAttribute("aria-expanded", String(!this.list.hidden));
      this.kept.hidden = true;
      this.say.hidden = !message;
      this.say.textContent = message;
      const all = this.options.length ? "all" : "elsewhere";
      this.all.textContent = this.label(all, { host: this.root.host });
      this.status.textContent = "";
      this.list.parentElement.scrollTop = 0;
      this.mark(
        this.options.findIndex((option) => option.href),
        false,
      );
    }

    get store() {
      return `anatomy-search ${this.root} ${this.dataset.site ?? ""}`;
    }

    recent() {
      try {
        const kept = JSON.parse(localStorage.getItem(this.store));
        return Array.isArray(kept)
          ? kept.filter((q) => typeof q === "string").slice(0, maxRecent)
          : [];
      } catch {
        return [];
      } // no storage, or not ours
    }

    remember() {
      const q = this.typed();
      if (!q) return;
      try {
        localStorage.setItem(
          this.store,
          JSON.stringify([q, ...this.recent().filter((r) => r !== q)].slice(0, maxRecent)),
        );
      } catch {
        /* no storage */
      }
    }

    forget() {
      try {
        localStorage.removeItem(this.store);
      } catch {
        /* no storage */
      }
      this.showRecent();
      this.input.focus();
    }

    showRecent() {
      const recent = this.recent();
      this.answered = "";
      this.all.hidden = true;
      this.fill(
        recent.map((q) => this.option("div", { dir: "auto" }, q)),
        recent.length ? "" : this.label("start"),
      );
      this.kept.hidden = !recent.length;
    }
  }
  customElements.define("anatomy-search", AnatomySearch);

  document.addEventListener("keydown", (e) => {
    const box = [...boxes].find((b) => b.isConnected);
    if (!box || e.defaultPrevented || isComposing(e) || e.altKey || (e.shiftKey && e.key !== "/"))
      return;
    if ((isCommand(e) || (e.key === "/" && !e.ctrlKey && !e.metaKey)) && !isTyping(e)) box.open();
    else return;
    e.preventDefault();
  });

  // Without an element in the page, the attributes of the script make one that has no button.
  const add = () => {
    if (document.querySelector("anatomy-search")) return;
    const box = make("anatomy-search", { "data-no-button": "" });
    Object.assign(box.dataset, script.dataset);
    document.body.append(box);
    const { open } = script.dataset;
    if (open)
      document.addEventListener("click", (e) => {
        const opener = e.target.closest?.(open);
        if (!opener || e.ctrlKey || e.metaKey || (box.failed && opener.closest("form, a"))) return;
        e.preventDefault();
        box.open();
      });
  };
  if (!script) return;
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", add);
  else add();
})();
