# Ranks the graph of an edge list with igraph's PRPACK (Debian: python3-igraph), for "lab/pagerank -against":
#
#   python3 lab/pagerank/prpack.py graph.tsv.gz > reference.tsv
#
# Parallel links count once and links of a node to itself count, as in "anatomy pagerank --edges".
import gzip
import sys
import time

import igraph

name = sys.argv[1]
links = set()
with (gzip.open if name.endswith(".gz") else open)(name, "rt") as lines:
    for line in lines:
        if line.strip() and not line.startswith("#"):
            s, t = line.split()
            links.add((int(s), int(t)))
ids = sorted({n for link in links for n in link})
node = {n: i for i, n in enumerate(ids)}
graph = igraph.Graph(n=len(ids), edges=[(node[s], node[t]) for s, t in sorted(links)], directed=True)
began = time.time()
ranks = graph.pagerank(damping=0.85, implementation="prpack")
print(f"PRPACK: {graph.vcount()} nodes, {graph.ecount()} links, {time.time() - began:.2f} s", file=sys.stderr)
for n, rank in zip(ids, ranks):
    print(f"{n}\t{rank:.17e}")
