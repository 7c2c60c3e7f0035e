// A site of VitePress whose link "Search" opens the box at the address $BOX, as doc/own-site.md says.
const box = process.env.BOX;
const search = new URL("search", box).href;

export default {
  title: "Tide tables",
  head: [["script", { src: box, defer: "", "data-open": `a[href="${search}"]` }]],
  themeConfig: {
    nav: [{ text: "Search", link: search }],
    sidebar: [
      { text: "Installation", link: "/guide/installation" },
      { text: "Harmonic constants", link: "/guide/constants" },
    ],
  },
};
