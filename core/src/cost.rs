//! Table of costs: estimated nanoseconds of the operations that layers count.
//!
//! Effort is counted work weighted by this table, never a clock, so that the same history gives the same decisions.
//! `cargo bench --bench costs` measures the rows and prints them beside the table.

/// One row of the table.
pub struct Row {
    pub name: &'static str,
    pub ns: u64,
    /// The operation.
    pub about: &'static str,
}

macro_rules! costs {
    ($(#[doc = $about:literal] $name:ident = $ns:literal;)*) => {
        $(#[doc = $about] pub const $name: u64 = $ns;)*

        /// All rows.
        pub const ROWS: &[Row] = &[$(Row { name: stringify!($name), ns: $ns, about: $about }),*];
    };
}

costs! {
    /// Asking a layer.
    QUERY = 80;
    /// Computing the value of a node under one model.
    VALUE = 20;
    /// Computing the value of a node under one model of a column.
    COLUMN_VALUE = 1;
    /// Copying a model for a new solution.
    COPY_MODEL = 300;
    /// Setting an input in a model.
    SET_INPUT = 100;
    /// Summarising a node of a condition for `intervals`.
    SUMMARY_NODE = 85;
    /// Folding a node over sets, and propagating a target through it.
    FOLD_NODE = 160;
    /// Folding a node of floating-point arithmetic, and propagating a target through it by bisection.
    FLOAT_NODE = 1_000;
    /// Combining two intervals while folding.
    INTERVAL_PAIR = 45;
    /// Planning the evaluation of a node in columns.
    PLAN_NODE = 260;
    /// One round of a repair, without evaluation.
    REPAIR_ROUND = 600;
    /// Adding a node to the canonical form of a query, with hashing and comparing.
    CANONICAL_NODE = 290;
    /// Reading a row of the store.
    STORE_READ = 14_000;
    /// A query to a complete layer, without the search.
    SOLVE = 4_000;
    /// A query to a complete solver outside the core, which counts nothing.
    FOREIGN_SOLVE = 500_000;
    /// Blasting a gate and adding it to a SAT solver.
    GATE = 430;
    /// Propagating a literal.
    PROPAGATION = 50;
    /// Propagating a literal in a circuit whose clauses are not in the near caches.
    FAR_PROPAGATION = 100;
    /// A tick of CaDiCaL, with what it does between searches.
    TICK = 20;
    /// A conflict with its propagations, for turning an effort limit into a conflict limit.
    CONFLICT = 12_000;
}
