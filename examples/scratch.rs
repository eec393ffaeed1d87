//! scratch
#![allow(missing_docs, clippy::print_stdout)]
use grammata::*;
use std::sync::Arc;
fn main() -> Result<()> {
    let a: Vec<String> = std::env::args().collect();
    let src = std::fs::read_to_string(&a[1]).unwrap();
    let g = if a[1].ends_with(".gbnf") {
        syntax::gbnf::compile(&src, &Default::default())?.grammar
    } else {
        syntax::regex::compile(src.trim_end(), &Default::default())?
    };
    if a[2] == "count" {
        let au = automaton::Automaton::new(&g, &Limits::default())?;
        println!("{} states", au.state_count());
        for w in automaton::words::enumerate(&au)?.take(20) {
            println!("{:?}", String::from_utf8_lossy(&w?));
        }
        println!("{}", automaton::words::count(&au)?);
        return Ok(());
    }
    let t = std::time::Instant::now();
    let v = Arc::new(Vocabulary::from_file(std::path::Path::new(&a[2]), &Default::default())?);
    println!("vocab {:?}", t.elapsed());
    let t = std::time::Instant::now();
    let c = Compiler::new(v.clone()).compile(&g)?;
    println!("compile {:?}", t.elapsed());
    let text = std::fs::read(&a[3]).unwrap();
    let toks = v.encode_greedy(&text).unwrap();
    for _ in 0..2 {
        let mut m = c.matcher();
        let mut buf = vec![0u32; v.mask_words()];
        let mut times = vec![];
        for &t in &toks {
            let s = std::time::Instant::now();
            m.fill_mask(&mut buf)?;
            let e = s.elapsed();
            times.push((e, t));
            assert!(buf[t.index() / 32] >> (t.get() % 32) & 1 == 1);
            m.accept_token(t)?;
        }
        println!("accepting {}", m.is_accepting()?);
        times.sort();
        let n = times.len();
        println!(
            "n {} p50 {:?} p90 {:?} max {:?} mean {:?}",
            n,
            times[n / 2].0,
            times[n * 9 / 10].0,
            times[n - 1].0,
            times.iter().map(|t| t.0).sum::<std::time::Duration>() / n as u32
        );
    }
    println!("{:?}", c.statistics());
    Ok(())
}
