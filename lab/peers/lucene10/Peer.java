import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.store.FSDirectory;

/**
 * Lucene for lab/peers.
 *
 *   Peer build TEXT INDEX
 *   Peer ask INDEX QUERIES any|all|phrase none|1000|all PASSES OUT
 *
 * TEXT has lines of id, title, words of the path and body, separated by tabs. OUT gets lines of query,
 * matches and the least time in nanoseconds. Matches are counted exactly up to 1,000, or all, or
 * only as far as the ten best results need it.
 */
public class Peer {
  static final int WARM = 4; // passes that are not measured: the compiler of the JVM runs in them
  static final Analyzer ANALYZER = new StandardAnalyzer();

  public static void main(String[] a) throws Exception {
    if (a[0].equals("build")) build(Path.of(a[1]), Path.of(a[2]));
    else ask(Path.of(a[1]), Path.of(a[2]), a[3], a[4], Integer.parseInt(a[5]), Path.of(a[6]));
  }

  static void build(Path text, Path index) throws IOException {
    IndexWriterConfig config = new IndexWriterConfig(ANALYZER).setUseCompoundFile(false);
    config.setRAMBufferSizeMB(256);
    try (IndexWriter w = new IndexWriter(FSDirectory.open(index), config);
        var lines = Files.newBufferedReader(text)) {
      for (String line; (line = lines.readLine()) != null; ) {
        String[] fields = line.split("\t", 4);
        Document d = new Document();
        d.add(new StringField("id", fields[0], Field.Store.YES));
        d.add(new TextField("title", fields[1], Field.Store.YES));
        d.add(new TextField("path", fields[2], Field.Store.NO));
        d.add(new TextField("body", fields[3], Field.Store.NO));
        w.addDocument(d);
      }
      w.forceMerge(1);
    }
  }

  static void ask(Path index, Path file, String mode, String count, int passes, Path out) throws IOException {
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(FSDirectory.open(index)));
    searcher.setQueryCache(null);
    int exactTo = count.equals("none") ? 1 : count.equals("all") ? Integer.MAX_VALUE : Integer.parseInt(count);
    List<String> queries = Files.readAllLines(file);
    long[] least = new long[queries.size()], hits = new long[queries.size()];
    Arrays.fill(least, Long.MAX_VALUE);
    for (int pass = 0; pass < passes + WARM; pass++)
      for (int i = 0; i < least.length; i++) {
        long began = System.nanoTime();
        Query query = parse(queries.get(i), mode);
        hits[i] = searcher.search(query, new TopScoreDocCollectorManager(10, exactTo)).totalHits.value();
        long took = System.nanoTime() - began;
        if (pass >= WARM) least[i] = Math.min(least[i], took);
      }
    try (PrintWriter w = new PrintWriter(Files.newBufferedWriter(out))) {
      for (int i = 0; i < least.length; i++) w.println(queries.get(i) + "\t" + hits[i] + "\t" + least[i]);
    }
  }

  static Query parse(String text, String mode) throws IOException {
    List<String> terms = new ArrayList<>();
    try (TokenStream tokens = ANALYZER.tokenStream("body", text)) {
      CharTermAttribute term = tokens.addAttribute(CharTermAttribute.class);
      tokens.reset();
      while (tokens.incrementToken()) terms.add(term.toString());
      tokens.end();
    }
    if (terms.isEmpty()) return new MatchNoDocsQuery();
    if (terms.size() == 1) return new TermQuery(new Term("body", terms.get(0)));
    if (mode.equals("phrase")) return new PhraseQuery("body", terms.toArray(new String[0]));
    BooleanQuery.Builder b = new BooleanQuery.Builder();
    Occur occur = mode.equals("all") ? Occur.MUST : Occur.SHOULD;
    for (String t : terms) b.add(new TermQuery(new Term("body", t)), occur);
    return b.build();
  }
}
