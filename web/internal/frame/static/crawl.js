// The admin page: fetches its changing part every two seconds while the page is visible. Without
// script the page reloads itself.
(() => {
  "use strict";
  const root = new URL("..", document.currentScript.src);
  const live = document.getElementById("live");
  if (!live) return;
  const every = 2000;
  let timer = 0;
  const turn = async () => {
    clearTimeout(timer);
    if (document.hidden) return;
    try {
      const answer = await fetch(new URL("crawl?part=live", root));
      if (answer.ok) show(await answer.text());
      live.classList.toggle("stale", !answer.ok);
    } catch {
      live.classList.add("stale"); // the server is away: what is shown stays, greyed
    }
    timer = setTimeout(turn, every);
  };
  const show = (html) => {
    const inside = live.contains(document.activeElement);
    const scrolled = live.querySelector(".scroll")?.scrollLeft ?? 0;
    const open = [...live.querySelectorAll("details")].map((d) => d.open);
    live.innerHTML = html; // of our own template
    const details = live.querySelectorAll("details");
    if (details.length === open.length) details.forEach((d, i) => { d.open = open[i]; });
    const table = live.querySelector(".scroll");
    if (!table) return;
    table.scrollLeft = scrolled;
    if (inside) table.focus({ preventScroll: true });
  };
  document.addEventListener("visibilitychange", turn);
  timer = setTimeout(turn, every);
})();
