// A site of VitePress with the DocSearch client of its theme, as doc/own-site.md says.
export default {
  title: "Tide tables",
  srcDir: "../docs",
  themeConfig: {
    search: {
      provider: "algolia",
      options: {
        appId: "any",
        apiKey: "any",
        indexName: "docs",
        transformSearchClient(client) {
          client.transporter.hosts.splice(0, 9, { url: "search.example.org", protocol: "https", accept: "readWrite" });
          return client;
        },
      },
    },
  },
};
