//! Cost of harvesting: the same solves with and without it, in time and in memory.
//!
//! `cargo bench --bench harvest`. Each query log goes through `sat` with and without the harvest alternately, until
//! the mean of the ratios is known to one percent or forty pairs were measured; CPU time of the thread. Memory is
//! the peak of allocated bytes. Exits with status 1 if a target is missed.

#[path = "../tests/corpus/mod.rs"]
mod corpus;
#[path = "allocator/counting.rs"]
mod counting;
mod replay;

use counting::counted;
use replay::replay;

const WITH: &str = "sat";
const WITHOUT: &str = "sat(harvest=off)";
const PAIRS: std::ops::RangeInclusive<usize> = 5..=40;
const PRECISION: f64 = 0.01;
/// Largest allowed ratio, in time and in memory.
const TARGET: f64 = 1.05;

/// Seconds, peak bytes beyond those allocated before, and harvested rows.
fn measure(text: &[u8], chain: &str) -> (f64, usize, f64) {
    let (f, _, most) = counted(|| replay(text, chain));
    let layer = f.layers.last().expect("a layer");
    let harvested = layer.counters.iter().find(|(name, _)| name == "harvested").map_or(0.0, |(_, n)| *n);
    (f.time.as_secs_f64(), most, harvested)
}

fn main() {
    println!(
        "{:20} {:>9} {:>9} {:>7} {:>6} {:>6} {:>9} {:>7}",
        "log", "without", "with, ms", "ratio", "+-", "pairs", "harvested", "memory"
    );
    let (mut with_all, mut without_all, mut memory_all) = (0.0, 0.0, [0, 0]);
    for (name, text) in corpus::texts(".kquery.gz") {
        let (mut ratios, mut times) = (Vec::<f64>::new(), [0.0, 0.0]);
        measure(&text, WITH);
        let (error, bytes, rows) = loop {
            let without = measure(&text, WITHOUT);
            let with = measure(&text, WITH);
            ratios.push(with.0 / without.0);
            times[0] += without.0;
            times[1] += with.0;
            let n = ratios.len() as f64;
            let mean = ratios.iter().sum::<f64>() / n;
            let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
            let error = (variance / n).sqrt();
            if ratios.len() >= *PAIRS.start() && (error < PRECISION || ratios.len() == *PAIRS.end()) {
                break (error, [without.1, with.1], with.2);
            }
        };
        ratios.sort_by(f64::total_cmp);
        let (median, n) = (ratios[ratios.len() / 2], ratios.len() as f64);
        let memory = bytes[1] as f64 / bytes[0] as f64;
        println!(
            "{:20} {:9.2} {:9.2} {median:7.3} {error:6.3} {:6} {rows:9} {memory:7.3}",
            name.trim_end_matches(".kquery.gz"),
            times[0] / n * 1e3,
            times[1] / n * 1e3,
            ratios.len(),
        );
        without_all += times[0] / n;
        with_all += times[1] / n;
        memory_all = [memory_all[0] + bytes[0], memory_all[1] + bytes[1]];
    }
    if without_all == 0.0 {
        return;
    }
    let (time, memory) = (with_all / without_all, memory_all[1] as f64 / memory_all[0] as f64);
    println!(
        "all: time {time:.3}, memory {memory:.3} of what they are without the harvest (at most {TARGET})"
    );
    if time > TARGET || memory > TARGET {
        std::process::exit(1);
    }
}
