import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.apache.lucene.analysis.*;
import org.apache.lucene.analysis.ar.ArabicAnalyzer;
import org.apache.lucene.analysis.charfilter.*;
import org.apache.lucene.analysis.cjk.CJKAnalyzer;
import org.apache.lucene.analysis.de.GermanAnalyzer;
import org.apache.lucene.analysis.el.GreekAnalyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.es.SpanishAnalyzer;
import org.apache.lucene.analysis.hi.HindiAnalyzer;
import org.apache.lucene.analysis.ru.RussianAnalyzer;
import org.apache.lucene.analysis.standard.*;
import org.apache.lucene.analysis.th.ThaiAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tr.TurkishAnalyzer;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.*;

/**
 * Lucene build TEXT INDEX LANG SETTING
 * Lucene ask INDEX LANG SETTING K QUERIES RUN [QUERIES RUN...]
 *
 * TEXT has lines of id, title, words of the path and body; QUERIES a query a line; RUN gets the query and
 * the ids of its K best documents, separated by tabs. SETTING is
 *
 *   text    title and body as one field, analyzer of LANG, any word, BM25 with Lucene's k1 and b
 *   fields  title (weight 3), path (1.5) and body, analyzer of LANG, any word
 *   names   the same fields without stems, split at . : and ', all words first and then any, b = 0.4
 */
public class Lucene {
  static Analyzer analyzer(String lang, String setting) {
    if (setting.equals("names")) {
      NormalizeCharMap.Builder b = new NormalizeCharMap.Builder();
      for (String s : new String[] {".", ":", "'", "\u2019"}) b.add(s, " ");
      NormalizeCharMap map = b.build();
      return new Analyzer() {
        protected TokenStreamComponents createComponents(String field) {
          Tokenizer t = new StandardTokenizer();
          return new TokenStreamComponents(t, new LowerCaseFilter(t));
        }
        protected Reader initReader(String field, Reader r) { return new MappingCharFilter(map, r); }
        protected Reader initReaderForNormalization(String field, Reader r) { return r; }
      };
    }
    switch (lang) {
      case "ar": return new ArabicAnalyzer();
      case "de": return new GermanAnalyzer();
      case "el": return new GreekAnalyzer();
      case "en": return new EnglishAnalyzer();
      case "es": return new SpanishAnalyzer();
      case "hi": return new HindiAnalyzer();
      case "ru": return new RussianAnalyzer();
      case "th": return new ThaiAnalyzer();
      case "tr": return new TurkishAnalyzer();
      case "zh": return new CJKAnalyzer();
    }
    return new StandardAnalyzer();
  }

  static void build(String text, String index, Analyzer an, boolean one) throws IOException {
    IndexWriterConfig cfg = new IndexWriterConfig(an);
    cfg.setRAMBufferSizeMB(256);
    try (Directory dir = FSDirectory.open(Paths.get(index)); IndexWriter w = new IndexWriter(dir, cfg);
        BufferedReader r = Files.newBufferedReader(Paths.get(text), StandardCharsets.UTF_8)) {
      for (String l; (l = r.readLine()) != null; ) {
        String[] f = l.split("\t", 4);
        Document d = new Document();
        d.add(new StringField("id", f[0], Field.Store.YES));
        if (one) d.add(new TextField("body", f[1] + " " + f[3], Field.Store.NO));
        else {
          d.add(new TextField("title", f[1], Field.Store.NO));
          d.add(new TextField("path", f[2], Field.Store.NO));
          d.add(new TextField("body", f[3], Field.Store.NO));
        }
        w.addDocument(d);
      }
      w.commit();
    }
  }

  static List<String> tokens(Analyzer an, String s) throws IOException {
    List<String> all = new ArrayList<>();
    try (TokenStream ts = an.tokenStream("body", s)) {
      CharTermAttribute t = ts.addAttribute(CharTermAttribute.class);
      ts.reset();
      while (ts.incrementToken()) all.add(t.toString());
      ts.end();
    }
    return all;
  }

  static Query query(List<String> tokens, boolean one, boolean all) {
    BooleanQuery.Builder b = new BooleanQuery.Builder();
    for (String t : tokens) {
      Query body = new TermQuery(new Term("body", t));
      if (!one)
        body = new BooleanQuery.Builder()
            .add(new BoostQuery(new TermQuery(new Term("title", t)), 3), BooleanClause.Occur.SHOULD)
            .add(body, BooleanClause.Occur.SHOULD)
            .add(new BoostQuery(new TermQuery(new Term("path", t)), 1.5f), BooleanClause.Occur.SHOULD)
            .build();
      b.add(body, all ? BooleanClause.Occur.MUST : BooleanClause.Occur.SHOULD);
    }
    return b.build();
  }

  public static void main(String[] a) throws Exception {
    IndexSearcher.setMaxClauseCount(1 << 16);
    if (a[0].equals("build")) {
      build(a[1], a[2], analyzer(a[3], a[4]), a[4].equals("text"));
      return;
    }
    String lang = a[2], setting = a[3];
    int k = Integer.parseInt(a[4]);
    Analyzer an = analyzer(lang, setting);
    IndexSearcher s = new IndexSearcher(DirectoryReader.open(FSDirectory.open(Paths.get(a[1]))));
    if (setting.equals("names")) s.setSimilarity(new BM25Similarity(1.2f, 0.4f));
    for (int i = 5; i + 1 < a.length; i += 2) {
      try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(Paths.get(a[i + 1]), StandardCharsets.UTF_8))) {
        for (String q : Files.readAllLines(Paths.get(a[i]), StandardCharsets.UTF_8)) {
          List<String> words = tokens(an, q);
          Set<String> ids = new LinkedHashSet<>();
          boolean[] ways = setting.equals("names") ? new boolean[] {true, false} : new boolean[] {false};
          for (boolean all : ways)
            if (!words.isEmpty() && ids.size() < k)
              for (ScoreDoc d : s.search(query(words, setting.equals("text"), all), k).scoreDocs)
                if (ids.size() < k) ids.add(s.storedFields().document(d.doc).get("id"));
          out.print(q);
          for (String id : ids) out.print("\t" + id);
          out.println();
        }
      }
    }
  }
}
