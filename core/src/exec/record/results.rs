//! Results of a run as bytes: counters, bugs, coverage, targets, reasons of incompleteness. Another process with the same
//! program adds them to its own, when a run is resumed or several workers explore one program.
use super::bugs::{Bug, Variable};
use super::fork_tree::Trail;
use super::incomplete::Incomplete;
use super::input_value::InputValue;
use super::{Recorder, Stats};
use crate::encoding::{Decoder, put, put_bytes};
use crate::exec::outcome::{Class, Place};
use crate::program::{FuncId, Program};
use std::time::Duration;

/// Results that were handed over before: they are left out of what `encode_results` makes.
#[derive(Default)]
pub struct Committed {
    stats: Stats,
    incomplete: Incomplete,
    notes: Incomplete,
    coverage: [Vec<u8>; 4],
    /// Number of paths into each bug.
    bugs: Vec<u64>,
}

fn get_bytes<'a>(from: &mut Decoder<'a>) -> Option<&'a [u8]> {
    let count = from.count()?;
    from.bytes(count)
}

fn get_text(from: &mut Decoder<'_>) -> Option<String> {
    String::from_utf8(get_bytes(from)?.to_vec()).ok()
}

fn get_u32(from: &mut Decoder<'_>) -> Option<u32> {
    u32::try_from(from.number()?).ok()
}

/// A number that may be absent, as the next one or 0.
fn put_option(out: &mut Vec<u8>, number: Option<u64>) {
    put(out, number.map_or(0, |number| number + 1));
}

fn get_option(from: &mut Decoder<'_>) -> Option<Option<u64>> {
    Some(from.number()?.checked_sub(1))
}

impl Recorder {
    /// Encodes the results since `before`.
    pub fn encode_results(&self, before: &Committed) -> Vec<u8> {
        let mut out = Vec::new();
        let (stats, old) = (counters(&self.stats), counters(&before.stats));
        stats.into_iter().zip(old).for_each(|(now, old)| put(&mut out, now - old));
        put(&mut out, self.stats.peak_memory);
        put(&mut out, self.stats.digest.wrapping_sub(before.stats.digest));
        for (counted, old) in [(&self.incomplete, &before.incomplete), (&self.notes, &before.notes)] {
            let rows = counted.since(old);
            put(&mut out, rows.len() as u64);
            for (why, func, pc, count) in rows {
                put_bytes(&mut out, why.as_bytes());
                [u64::from(func.0), pc.into(), count].into_iter().for_each(|n| put(&mut out, n));
            }
        }
        let sets = self.coverage.sets();
        let is_new = sets != before.coverage;
        sets.iter().for_each(|set| put_bytes(&mut out, if is_new { set } else { &[] }));
        let targets = self.targets.rows();
        put(&mut out, targets.len() as u64);
        for (reached, test) in targets {
            out.push(reached.into());
            put_option(&mut out, test);
        }
        let paths = |at: usize, bug: &Bug| bug.paths - before.bugs.get(at).copied().unwrap_or(0);
        let bugs = self.bugs.all().iter().enumerate().map(|(at, bug)| (bug, paths(at, bug)));
        let bugs: Vec<(&Bug, u64)> = bugs.filter(|(_, paths)| *paths > 0).collect();
        put(&mut out, bugs.len() as u64);
        bugs.into_iter().for_each(|(bug, paths)| put_bug(&self.program, &mut out, bug, paths));
        out
    }

    /// Encodes the results since the last call.
    pub fn commit_results(&mut self) -> Vec<u8> {
        let out = self.encode_results(&self.committed);
        self.committed = Committed {
            stats: self.stats,
            incomplete: self.incomplete.clone(),
            notes: self.notes.clone(),
            coverage: self.coverage.sets(),
            bugs: self.bugs.all().iter().map(|bug| bug.paths).collect(),
        };
        out
    }

    /// Adds the results of another process. `None` if they are damaged, or of another program.
    pub fn add_results(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let stats = &mut self.stats;
        let mut explore = 0;
        for counter in [
            &mut stats.instructions,
            &mut stats.forks,
            &mut stats.states,
            &mut stats.completed,
            &mut stats.bugs,
            &mut stats.limits,
            &mut stats.unsupported,
            &mut stats.tests,
            &mut explore,
            &mut stats.collections,
            &mut stats.replayed,
            &mut stats.parked,
            &mut stats.varied,
        ] {
            *counter = counter.checked_add(from.number()?)?;
        }
        stats.explore += Duration::from_nanos(explore);
        stats.peak_memory = stats.peak_memory.max(from.number()?);
        stats.digest = stats.digest.wrapping_add(from.number()?);
        for counted in [&mut self.incomplete, &mut self.notes] {
            add_counts(&self.program, counted, from)?;
        }
        let sets = [get_bytes(from)?, get_bytes(from)?, get_bytes(from)?, get_bytes(from)?];
        // Absent if they are as they were.
        let is_absent = sets.iter().all(|set| set.is_empty());
        (is_absent || self.coverage.add_sets(sets)).then_some(())?;
        let targets: Vec<(bool, Option<u64>)> = (0..from.count()?)
            .map(|_| Some((from.byte()? != 0, get_option(from)?)))
            .collect::<Option<_>>()?;
        self.targets.add_rows(&targets).then_some(())?;
        for _ in 0..from.count()? {
            let bug = get_bug(&self.program, from)?;
            self.bugs.merge(bug, self.numbered.unwrap_or(0));
        }
        Some(())
    }
}

/// Counters that add up over workers.
fn counters(stats: &Stats) -> [u64; 13] {
    let explore = u64::try_from(stats.explore.as_nanos()).unwrap_or(u64::MAX);
    [
        stats.instructions,
        stats.forks,
        stats.states,
        stats.completed,
        stats.bugs,
        stats.limits,
        stats.unsupported,
        stats.tests,
        explore,
        stats.collections,
        stats.replayed,
        stats.parked,
        stats.varied,
    ]
}

fn add_counts(program: &Program, counted: &mut Incomplete, from: &mut Decoder<'_>) -> Option<()> {
    for _ in 0..from.count()? {
        let (why, func, pc, count) = (get_text(from)?, get_u32(from)?, get_u32(from)?, from.number()?);
        program.functions.get(func as usize)?;
        counted.add_count(&why, FuncId(func), pc, count);
    }
    Some(())
}

/// A source file by its number: a run that is resumed elsewhere has other paths for the same files.
fn put_file(program: &Program, out: &mut Vec<u8>, file: &str) {
    let number = program.strings.iter().position(|string| **string == *file);
    put_option(out, number.map(|number| number as u64));
    if number.is_none() {
        put_bytes(out, file.as_bytes());
    }
}

fn get_file(program: &Program, from: &mut Decoder<'_>) -> Option<String> {
    match get_option(from)? {
        Some(number) => Some(program.strings.get(usize::try_from(number).ok()?)?.to_string()),
        None => get_text(from),
    }
}

fn put_bug(program: &Program, out: &mut Vec<u8>, bug: &Bug, paths: u64) {
    put_bytes(out, bug.class.name().as_bytes());
    put_file(program, out, &bug.place.file);
    put(out, bug.place.line.into());
    put_bytes(out, bug.message.as_bytes());
    put_option(out, bug.test);
    put(out, paths);
    put_bytes(out, &bug.string);
    put(out, bug.inputs.len() as u64);
    for (name, value) in &bug.inputs {
        let (head, others, fill, len) = value.parts();
        put_bytes(out, name.as_bytes());
        put_bytes(out, head);
        put(out, others.len() as u64);
        for (place, byte) in others {
            put(out, *place);
            out.push(*byte);
        }
        out.push(fill);
        put(out, len);
    }
    put(out, bug.trail.left_out as u64);
    put(out, bug.trail.numbers().len() as u64);
    bug.trail.numbers().flatten().for_each(|number| put(out, number.into()));
    match &bug.variable {
        None => put(out, 0),
        Some(Variable::Global { name }) => {
            put(out, 1);
            put_bytes(out, name.as_bytes());
        }
        Some(Variable::Local { function, number }) => {
            put(out, 2);
            put_bytes(out, function.as_bytes());
            put(out, *number);
        }
        Some(Variable::Input { name }) => {
            put(out, 3);
            put_bytes(out, name.as_bytes());
        }
    }
}

fn get_bug(program: &Program, from: &mut Decoder<'_>) -> Option<Bug> {
    let class = Class::named(&get_text(from)?)?;
    let place = Place { file: get_file(program, from)?, line: get_u32(from)?, function: String::new() };
    let (message, test, paths) = (get_text(from)?, get_option(from)?, from.number()?);
    let string = get_bytes(from)?.to_vec();
    let mut inputs = Vec::new();
    for _ in 0..from.count()? {
        let (name, head) = (get_text(from)?, get_bytes(from)?.to_vec());
        let others =
            (0..from.count()?).map(|_| Some((from.number()?, from.byte()?))).collect::<Option<Vec<_>>>()?;
        inputs.push((name, InputValue::of_parts(head, others, from.byte()?, from.number()?)));
    }
    let left_out = usize::try_from(from.number()?).ok()?;
    let mut rows = Vec::new();
    for _ in 0..from.count()? {
        rows.push([get_u32(from)?, get_u32(from)?, get_u32(from)?, get_u32(from)?]);
    }
    let trail = Trail::of_numbers(program, &rows, left_out)?;
    let variable = match from.number()? {
        0 => None,
        1 => Some(Variable::Global { name: get_text(from)? }),
        2 => Some(Variable::Local { function: get_text(from)?, number: from.number()? }),
        3 => Some(Variable::Input { name: get_text(from)? }),
        _ => return None,
    };
    Some(Bug { class, place, message, test, inputs, trail, variable, paths, string })
}
