// peer is Tantivy for lab/peers.
//
//   peer build TEXT INDEX
//   peer ask INDEX QUERIES any|all|phrase none|all PASSES OUT
//
// TEXT has lines of id, title, words of the path and body, separated by tabs. OUT gets lines of
// query, matches and the least time in nanoseconds; without counting, matches are results.
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::time::Instant;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, EmptyQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::*;
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

const WARM: usize = 2; // passes that are not measured

fn fields() -> (Schema, Vec<Field>) {
    let mut b = Schema::builder();
    let text = || {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("default")
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        TextOptions::default().set_indexing_options(indexing)
    };
    let all = vec![
        b.add_text_field("id", STRING | STORED),
        b.add_text_field("title", text().set_stored()),
        b.add_text_field("path", text()),
        b.add_text_field("body", text()),
    ];
    (b.build(), all)
}

fn build(text: &str, dir: &str) -> tantivy::Result<()> {
    std::fs::create_dir_all(dir)?;
    let (schema, fields) = fields();
    let index = Index::create_in_dir(dir, schema)?;
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 256_000_000)?;
    for line in BufReader::with_capacity(1 << 20, File::open(text)?).lines() {
        let mut doc = TantivyDocument::default();
        for (field, value) in fields.iter().zip(line?.splitn(4, '\t')) {
            doc.add_text(*field, value);
        }
        writer.add_document(doc)?;
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()
}

fn parse(index: &Index, body: Field, query: &str, mode: &str) -> Box<dyn Query> {
    let mut terms = vec![];
    let mut tokenizer = index.tokenizers().get("default").unwrap();
    let mut tokens = tokenizer.token_stream(query);
    while let Some(token) = tokens.next() {
        terms.push(Term::from_field_text(body, &token.text));
    }
    let of_term = |t| -> Box<dyn Query> { Box::new(TermQuery::new(t, IndexRecordOption::WithFreqs)) };
    match (terms.len(), mode) {
        (0, _) => Box::new(EmptyQuery),
        (1, _) => of_term(terms.pop().unwrap()),
        (_, "phrase") => Box::new(PhraseQuery::new(terms)),
        _ => {
            let occur = if mode == "all" { Occur::Must } else { Occur::Should };
            Box::new(BooleanQuery::new(terms.into_iter().map(|t| (occur, of_term(t))).collect()))
        }
    }
}

fn ask(a: &[String]) -> tantivy::Result<()> {
    let [dir, queries, mode, count, passes, out] = a else { panic!("want INDEX QUERIES MODE COUNT PASSES OUT") };
    let index = Index::open_in_dir(dir)?;
    let body = index.schema().get_field("body")?;
    let searcher = index.reader()?.searcher();
    let queries: Vec<String> = BufReader::new(File::open(queries)?).lines().collect::<Result<_, _>>()?;
    let mut least = vec![u128::MAX; queries.len()];
    let mut hits = vec![0; queries.len()];
    for pass in 0..passes.parse::<usize>().unwrap() + WARM {
        for (i, text) in queries.iter().enumerate() {
            let began = Instant::now();
            let query = parse(&index, body, text, mode);
            hits[i] = match count.as_str() {
                "none" => searcher.search(&query, &TopDocs::with_limit(10))?.len(),
                "all" => searcher.search(&query, &(TopDocs::with_limit(10), Count))?.1,
                other => panic!("no such count: {other}"),
            };
            if pass >= WARM {
                least[i] = least[i].min(began.elapsed().as_nanos());
            }
        }
    }
    let mut out = File::create(out)?;
    for (i, query) in queries.iter().enumerate() {
        writeln!(out, "{}\t{}\t{}", query, hits[i], least[i])?;
    }
    Ok(())
}

fn main() -> tantivy::Result<()> {
    let a: Vec<String> = std::env::args().collect();
    match a[1].as_str() {
        "build" => build(&a[2], &a[3]),
        _ => ask(&a[2..]),
    }
}
