// A site of VitePress whose link "Search" opens the box, as doc/own-site.md says.
export default {
  title: "Tide tables",
  srcDir: "../docs",
  head: [["script", {
    src: "https://search.example.org/box.js", defer: "", "data-open": 'a[href="https://search.example.org/search"]',
  }]],
  themeConfig: { nav: [{ text: "Search", link: "https://search.example.org/search", noIcon: true }] },
};
