//! Table of the layers' options: name, range, default and a sentence each.
//!
//! A row is settable in the spec of its layer, `sat(conflicts=500)`; those of `throttle(...)` apply to the whole chain. The
//! table makes one struct per layer, which the layer keeps, and the rows of the reference page.

use crate::cost;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Values that an option takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Values {
    Number(RangeInclusive<u64>),
    Switch,
    Choice(&'static [&'static str]),
    /// The path of a file or a folder, as messages name it.
    Path(&'static str),
}

/// One option.
pub struct Row {
    pub layer: &'static str,
    pub name: &'static str,
    pub values: Values,
    pub default: String,
    pub about: &'static str,
}

impl Row {
    /// The option as a message names it: `conflicts=0..1000000`.
    pub fn usage(&self) -> String {
        match &self.values {
            Values::Number(range) => format!("{}={}..{}", self.name, range.start(), range.end()),
            Values::Switch => format!("{}=on|off", self.name),
            Values::Choice(all) => format!("{}={}", self.name, all.join("|")),
            Values::Path(shown) => format!("{}={shown}", self.name),
        }
    }
}

/// A type of options.
trait Setting: Sized {
    fn parse(text: &str, values: &Values) -> Option<Self>;
    fn show(&self) -> String;
}

impl Setting for u64 {
    fn parse(text: &str, values: &Values) -> Option<u64> {
        let Values::Number(range) = values else { return None };
        text.parse().ok().filter(|number| range.contains(number))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting for bool {
    fn parse(text: &str, _: &Values) -> Option<bool> {
        match text {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        }
    }

    fn show(&self) -> String {
        if *self { "on" } else { "off" }.to_string()
    }
}

impl Setting for &'static str {
    fn parse(text: &str, values: &Values) -> Option<&'static str> {
        let Values::Choice(all) = values else { return None };
        all.iter().find(|choice| **choice == text).copied()
    }

    fn show(&self) -> String {
        (*self).to_string()
    }
}

/// `None` if the option is not given.
impl Setting for Option<PathBuf> {
    fn parse(text: &str, _: &Values) -> Option<Option<PathBuf>> {
        (!text.is_empty()).then(|| Some(PathBuf::from(text)))
    }

    fn show(&self) -> String {
        self.as_ref().map_or(String::new(), |path| path.display().to_string())
    }
}

macro_rules! tuning {
    ($(
        $layer:literal $Options:ident {
            $($name:ident: $Type:ty = $default:expr, $values:expr, $about:literal;)*
        }
    )*) => {
        $(
            /// Options of one layer.
            #[derive(Clone, Debug)]
            pub struct $Options {
                $(#[doc = $about] pub $name: $Type,)*
            }

            impl Default for $Options {
                fn default() -> $Options {
                    $Options { $($name: $default),* }
                }
            }

            impl $Options {
                /// Reads options as the spec of the layer has them.
                ///
                /// # Errors
                /// An option or a value that the table does not have.
                pub fn parse(given: &[(String, String)]) -> Result<$Options, String> {
                    let mut options = $Options::default();
                    for (key, value) in given {
                        match key.as_str() {
                            $(stringify!($name) => {
                                let parsed = <$Type as Setting>::parse(value, &$values);
                                options.$name = parsed.ok_or_else(|| unexpected($layer, key, value))?;
                            })*
                            _ => return Err(unexpected($layer, key, value)),
                        }
                    }
                    Ok(options)
                }
            }
        )*

        /// All rows, in the order of the table.
        pub fn rows() -> Vec<Row> {
            vec![$($(Row {
                layer: $layer,
                name: stringify!($name),
                values: $values,
                default: <$Type as Setting>::show(&$Options::default().$name),
                about: $about,
            }),*),*]
        }
    };
}

fn unexpected(layer: &str, key: &str, value: &str) -> String {
    let usages: Vec<String> = rows().iter().filter(|row| row.layer == layer).map(Row::usage).collect();
    format!("expected {} in `{layer}(...)`, found `{key}={value}`", usages.join(", "))
}

const LARGE: u64 = 1_000_000_000;

tuning! {
    "throttle" ThrottleOptions {
        min_tries: u64 = 16, Values::Number(1..=LARGE), "Tries before the first decision about a step.";
        window: u64 = 64, Values::Number(1..=LARGE), "Costs and gains are summed over about this many tries.";
        first_skip: u64 = 256, Values::Number(1..=LARGE), "Number of tries that the first decision skips.";
        short_skip: u64 = 32, Values::Number(1..=LARGE), "The same for steps whose tries and successes are counted.";
        factor: u64 = 4, Values::Number(1..=1000), "Factor of the number of skipped tries when a decision is confirmed.";
        max_factor: u64 = 64, Values::Number(1..=LARGE), "Limit of the product of these factors.";
        cheap: u64 = 2_000, Values::Number(0..=LARGE), "A layer of at most this mean effort is never skipped.";
        early_tries: u64 = 3, Values::Number(1..=LARGE), "Tries before the first decision about an expensive layer.";
        early_cost: u64 = 100_000, Values::Number(0..=LARGE), "Sum of effort from which a layer is expensive.";
        tolerance: u64 = 125, Values::Number(0..=LARGE), "Percent of what a layer saves that it may spend, as costs are estimates.";
        brief: u64 = 5_000_000, Values::Number(0..=LARGE), "Effort limit of the layers below for a query that skips a layer.";
        recent: u64 = 16, Values::Number(1..=LARGE), "Means of effort are over about this many queries.";
        min_skipped: u64 = 3, Values::Number(1..=LARGE), "Skipped queries before skipping can end because they cost more.";
    }
    "solutions" SolutionsOptions {
        kp: u64 = 250, Values::Number(0..=1000), "Limit of near misses taken from one solve.";
        ks: u64 = 50, Values::Number(0..=1000), "Limit of solutions at one path node.";
        variants: u64 = 32, Values::Number(0..=1000), "Limit of variants of one answer.";
        share: u64 = 50, Values::Number(0..=LARGE), "Effort for new solutions, in percent of the effort of solves; what solutions save is added.";
        min_variants: u64 = 4, Values::Number(0..=1000), "No variants are made if the effort allows fewer than this.";
        samples: u64 = 256, Values::Number(1..=LARGE), "Mean costs of solutions and of queries are over about this many.";
    }
    "solutions:paper" PartialSolutionsOptions {
        kp: u64 = 250, Values::Number(0..=LARGE), "Limit of partial solutions of one solve, K_p of the paper.";
        ks: u64 = 50, Values::Number(0..=LARGE), "Limit of solutions of one set of constraints, K_s of the paper.";
        harvest: bool = true, Values::Switch, "Take partial solutions from solves; without them the same cache is the control.";
        once: bool = false, Values::Switch, "Try each solution once in a query, not once for each prefix it is stored for: ours.";
    }
    "intervals" IntervalsOptions {
        throttle: bool = true, Values::Switch, "Skip the layer while it costs more than it saves.";
        repair: bool = true, Values::Switch, "Repair the path model before sets are folded.";
        repairs: u64 = 3, Values::Number(1..=LARGE), "Repairs pay if one in this many succeeds.";
        search: bool = true, Values::Switch, "Search for a model of a query with floating-point operators, one input at a time.";
        search_words: u64 = 2_000, Values::Number(0..=LARGE), "Effort limit, for each node, of the search for a model of a single check without floating-point operators. 0: none.";
        searches: u64 = 4, Values::Number(1..=LARGE), "Searches pay if one in this many succeeds.";
        search_effort: u64 = 5_000_000, Values::Number(0..=LARGE), "Effort limit of a search for each operation of the query that rounds.";
        search_rounds: u64 = 1_000, Values::Number(1..=LARGE), "A search ends after this many changes that bring it no nearer to a model.";
        search_line: u64 = 200, Values::Number(0..=LARGE), "Values of one input that a search tries in order where no change helps; without limit if there is one input. 0: none.";
        search_limit: u64 = 250_000_000, Values::Number(0..=LARGE), "Effort limit of a search.";
        nodes: u64 = 256, Values::Number(1..=LARGE), "Limit of nodes folded and visited for one query.";
        tries: u64 = 8, Values::Number(1..=LARGE), "Folding a kind of condition pays if one query in this many is answered.";
        ranges: u64 = 64, Values::Number(1..=LARGE), "Limit of ranges that a candidate changes.";
    }
    "intervals:paper" PartiOptions {
        shift: bool = true, Values::Switch, "Sets have a left-shift attribute; without it multiplications are passed on.";
    }
    "enumerate" EnumerateOptions {
        throttle: bool = true, Values::Switch, "Skip the layer while it costs more than it saves.";
        work: u64 = 1 << 18, Values::Number(0..=u64::MAX), "Limit of points times nodes for one query.";
        float_work: u64 = 1 << 20, Values::Number(0..=u64::MAX), "The same for each floating-point operation of the query that rounds, if that is more.";
    }
    "differences" DifferencesOptions {
        throttle: bool = true, Values::Switch, "Skip the layer while it costs more than it saves.";
        choices: u64 = 64, Values::Number(0..=LARGE), "Limit of disequalities that are replaced by an order.";
        reasons: u64 = 64, Values::Number(0..=LARGE), "Sets with more reasons are not used, to keep cores short.";
    }
    "reuse" ReuseOptions {
        expensive: u64 = cost::SOLVE, Values::Number(0..=LARGE), "Answers that took less effort (by default, than that of a solve) are kept for identical queries only.";
        steps: u64 = 200, Values::Number(0..=LARGE), "Limit of trie nodes that a look-up visits.";
    }
    "reuse:grulia" GruliaOptions {
        partial: bool = false, Values::Switch, "Keep partial solutions of solves in the repository, as in the paper on them.";
        kp: u64 = 100, Values::Number(0..=LARGE), "Limit of partial solutions of one solve.";
        path: Option<PathBuf> = None, Values::Path("FILE"), "File of the repository, which runs share; it is made if it does not exist.";
        mb: u64 = 256, Values::Number(1..=1_000_000), "Limit of the size of the file in megabytes.";
    }
    "sat" SatOptions {
        engine: &'static str = "both", Values::Choice(&["both", "batsat", "cadical", "conflicts"]), "SAT solvers: batsat and then CaDiCaL, or one of them; `conflicts` keeps the assignment at each conflict, as in the paper.";
        conflicts: u64 = 1_000, Values::Number(0..=1_000_000), "Conflict limit of batsat, after which CaDiCaL takes over.";
        single: bool = true, Values::Switch, "A query whose core is not needed gets a CaDiCaL of its own, without assumptions.";
        single_conflicts: u64 = 30, Values::Number(0..=1_000_000), "Conflicts after which batsat hands over to a CaDiCaL of the query's own; with arrays `conflicts` is the limit.";
        harvest: bool = true, Values::Switch, "Collect near misses during the search.";
        kp: u64 = 250, Values::Number(0..=1_000_000), "Limit of near misses of one solve.";
        expand: u64 = 0, Values::Number(0..=16), "Comparisons of arrays with an index of at most this width mention every index at once.";
        lazy_reads: u64 = 2, Values::Number(0..=1_000_000), "Without a core, reads over more writes than this are decided on demand; 0 for none.";
        lazy_gates: u64 = 20_000, Values::Number(0..=LARGE), "They are built at once if all together have at most this many gates, by an estimate.";
        small: bool = true, Values::Switch, "Try small inputs before the full search.";
        first_conflicts: u64 = 30, Values::Number(0..=1_000_000), "Conflicts of the full query before small inputs are tried.";
        small_conflicts: u64 = 300, Values::Number(0..=1_000_000), "Conflict limit for each width of small inputs.";
        small_tries: u64 = 8, Values::Number(1..=LARGE), "Small inputs pay if one query in this many is answered.";
    }
    "record" RecordOptions {
        dir: Option<PathBuf> = Some("queries".into()), Values::Path("PATH"), "Folder of the recorded queries.";
        format: &'static str = "smt2", Values::Choice(&["smt2", "kquery"]), "Format of the recorded queries.";
    }
    "store" StoreOptions {
        path: Option<PathBuf> = None, Values::Path("FILE"), "File of the answers; it is made if it does not exist.";
        mb: u64 = 256, Values::Number(1..=1_000_000), "Limit of the size of the file in megabytes.";
        sample: u64 = 64, Values::Number(1..=1_000_000), "One unsat answer of the file in this many is solved again.";
        tries: u64 = 5, Values::Number(1..=LARGE), "Look-ups pay if one in this many finds an answer.";
        min_effort: u64 = 300_000, Values::Number(0..=LARGE), "Answers that took less effort are not kept.";
        share: u64 = 15, Values::Number(0..=1000), "Effort for keeping answers, in thousandths of the effort of solves.";
        form_share: u64 = 20, Values::Number(0..=1000), "Limit of the effort of a canonical form, in percent of that of its solve.";
        wait_ms: u64 = 1000, Values::Number(1..=LARGE), "Longest wait for an answer of a server, in milliseconds.";
        eager: bool = false, Values::Switch, "Keep and look up every answer, whatever it costs: for tests.";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_in_range_and_names_unique() {
        let rows = rows();
        for (at, row) in rows.iter().enumerate() {
            let fits = match &row.values {
                Values::Number(range) => range.contains(&row.default.parse().expect("a number")),
                Values::Switch => ["on", "off"].contains(&row.default.as_str()),
                Values::Choice(all) => all.contains(&row.default.as_str()),
                Values::Path(_) => true,
            };
            assert!(fits, "{}: {}", row.layer, row.usage());
            assert!(row.about.ends_with('.'), "{}", row.about);
            assert!(!rows[..at].iter().any(|other| (other.layer, other.name) == (row.layer, row.name)));
        }
    }

    #[test]
    fn messages() {
        let given = [("ks".to_string(), "many".to_string())];
        assert_eq!(
            SolutionsOptions::parse(&given).unwrap_err(),
            "expected kp=0..1000, ks=0..1000, variants=0..1000, share=0..1000000000, min_variants=0..1000, \
             samples=1..1000000000 in `solutions(...)`, found `ks=many`"
        );
        let given = [("path".to_string(), String::new())];
        assert!(StoreOptions::parse(&given).unwrap_err().starts_with("expected path=FILE, mb=1..1000000, "));
    }
}
