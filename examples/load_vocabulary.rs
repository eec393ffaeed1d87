//! Loads a tokenizer file and prints how long that takes and what is in it.
//!
//! `cargo run --profile quick --example load_vocabulary -- FILE [EOS_ID...]`
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::vocabulary::{LoadOptions, TokenId, TokenTrie, Vocabulary};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: load_vocabulary FILE [EOS_ID...]")?;
    let eos =
        arguments.map(|id| Ok(TokenId::new(id.parse()?))).collect::<Result<_, std::num::ParseIntError>>()?;
    let options = LoadOptions::default().eos(eos);

    let start = Instant::now();
    let vocabulary = Vocabulary::from_file(&path, &options)?;
    let load = start.elapsed();
    let start = Instant::now();
    let trie = TokenTrie::new(&vocabulary);
    let build = start.elapsed();

    let eos: Vec<_> = vocabulary.eos().iter().filter_map(|&id| vocabulary.special(id)).collect();
    let missing = vocabulary.missing_bytes().iter().filter(|&&missing| missing).count();
    let fingerprint: String = vocabulary.fingerprint().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("loaded in        {:.1} ms, of which the trie {:.1} ms", ms(load), ms(build));
    println!(
        "memory           {:.2} MB, of which the trie {:.2} MB",
        mb(vocabulary.memory_usage()),
        mb(trie.memory_usage())
    );
    println!("width            {}", vocabulary.width());
    println!("ordinary tokens  {}", vocabulary.tokens().count());
    println!("special tokens   {}", vocabulary.specials().len());
    println!("end of sequence  {}", eos.join(" "));
    println!("trie nodes       {}", trie.node_count());
    println!("bytes without a token of their own: {missing}");
    println!("fingerprint      {fingerprint}");
    Ok(())
}

fn ms(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
