// Keys on top of a page that works without them: / to the box, j and k from result to result,
// n and p from page to page. Enter on a focused title is the browser's own.
(() => {
  "use strict";
  document.documentElement.classList.add("js");
  const box = document.getElementById("q");
  const titles = [...document.querySelectorAll(".hit h2 a")];
  const follow = (rel) => document.querySelector(`.pager a[rel=${rel}]`)?.click();
  const move = (by) => {
    const at = titles.indexOf(document.activeElement);
    const to = at < 0 ? (by > 0 ? 0 : -1) : at + by;
    if (!titles[to]) return;
    titles[to].focus();
    titles[to].closest(".hit").scrollIntoView({ block: "nearest" });
  };
  const keys = {
    "/": () => { box?.focus(); box?.select(); },
    j: () => move(1),
    k: () => move(-1),
    n: () => follow("next"),
    p: () => follow("prev"),
  };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.target.closest("input, textarea, select")) {
      if (e.key === "Escape") e.target.blur();
      return;
    }
    if (Object.hasOwn(keys, e.key)) {
      e.preventDefault();
      keys[e.key]();
    }
  });
})();
