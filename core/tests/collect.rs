//! Random building and collecting of expressions: live expressions keep handle and value, freed slots are reused,
//! and expressions built in reused slots have the right value.

use crate::terms::{Random, V, World, from_value};
use partita_core::expr::walk::Supports;
use partita_core::expr::{Bits, Evaluator, Expr, Graph, Sort};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// All of `kept` have the same value as before, and building them again finds them.
fn check(world: &mut World, evaluator: &mut Evaluator, kept: &[(Expr, Rc<[V]>)]) {
    for (e, table) in kept {
        let i = world.random.below(world.models.len() as u64) as usize;
        let value = evaluator.under(&world.graph, &world.models[i]).value(*e);
        assert_eq!(from_value(&value), table[i], "{}", world.show(*e));
        let kids = world.graph.kids(*e);
        if world.graph.rewrites_cut() == 0 {
            assert_eq!(world.graph.rebuild(*e, &kids), *e);
        }
    }
}

#[test]
fn live_expressions_keep_their_values() {
    let mut random = Random::new(6);
    for seed in 0..60 {
        let array = Sort::Array { index: 2, element: 1 + random.below(9) as u32 };
        let sorts = [Sort::Bits(1 + random.below(8) as u32), Sort::Bits(70), Sort::Bool, array];
        let mut world = World::new(seed, &sorts, 100, 32);
        let mut evaluator = Evaluator::new();
        let mut kept: Vec<(Expr, Rc<[V]>)> = Vec::new();
        for _ in 0..12 {
            for _ in 0..40 {
                let e = world.step();
                if world.random.chance(20) {
                    let table = world.table(e);
                    kept.push((e, table));
                }
            }
            kept.retain(|_| world.random.chance(60));
            let before = world.graph.len();
            let roots: Vec<Expr> = kept.iter().map(|&(e, _)| e).collect();
            let freed = world.collect(&roots);
            assert_eq!(world.graph.len(), before - freed);
            assert_eq!(world.graph.len(), reachable(&world, &roots), "exactly the reachable nodes are left");
            check(&mut world, &mut evaluator, &kept);
        }
    }
}

/// The roots, the variables, the two booleans and their operands.
fn reachable(world: &World, roots: &[Expr]) -> usize {
    let mut seen = FxHashSet::default();
    let mut all: Vec<Expr> = world.variables.clone();
    all.extend_from_slice(roots);
    all.extend([world.graph.boolean(false), world.graph.boolean(true)]);
    world.graph.post_order_unseen(&all, &mut seen, &mut |_| {});
    seen.len()
}

#[test]
fn freed_slots_are_reused_first() {
    let mut g = Graph::new();
    let x = g.var("x", Sort::Bits(32)).unwrap();
    let build = |g: &mut Graph| {
        let mut e = x;
        for i in 0..1000 {
            let c = g.word(32, 2 * i + 3);
            let product = g.mul(e, x);
            e = g.xor(product, c);
        }
        e
    };
    build(&mut g);
    let slots = g.slots();
    for _ in 0..50 {
        let alive = g.mark([x]);
        assert!(g.collect(&alive) > 2000);
        build(&mut g);
        assert_eq!(g.slots(), slots, "building the same again takes the same slots");
    }
    assert_eq!(g.collect(&g.mark([x])), g.slots() - g.len());
}

#[test]
fn names_wide_constants_and_tables_are_freed_with_their_nodes() {
    let mut g = Graph::new();
    for round in 0..3_u32 {
        let width = 100 + round;
        // The name can be used again, with another sort.
        let x = g.var("x", Sort::Bits(width)).unwrap();
        let ones = g.constant(Bits::ones(width).lshr(1));
        let sum = g.add(x, ones);
        let base = g.var("base", Sort::Array { index: 8, element: 8 }).unwrap();
        let other = g.var("other", Sort::Array { index: 8, element: 8 }).unwrap();
        let table = g.table_over(base, vec![1, 2, 3].into());
        let shared = g.table_over(other, vec![1, 2, 3].into());
        let alive = g.mark([shared, sum]);
        g.collect(&alive);
        assert!(!alive.has(table) && g.lookup("base").is_none());
        assert_eq!(g.table(shared).elements[..], [1, 2, 3]);
        assert_eq!(g.const_bits(ones).unwrap(), Bits::ones(width).lshr(1));
        let fewer = g.table_over(other, vec![1, 2].into());
        assert_eq!(g.table(fewer).elements[..], [1, 2]);
        assert_eq!(g.table_over(other, vec![1, 2, 3].into()), shared);
        let none = g.mark([]);
        g.collect(&none);
        assert_eq!(g.len(), 2, "the two booleans");
    }
}

#[test]
fn tables_keyed_by_expression_are_swept() {
    let mut g = Graph::new();
    let mut supports = Supports::default();
    let x = g.var("x", Sort::Bits(8)).unwrap();
    assert_eq!(supports.of(&g, x).len(), 1);
    let alive = g.mark([]);
    supports.sweep(&alive);
    g.collect(&alive);
    let a = g.var("a", Sort::Array { index: 8, element: 8 }).unwrap();
    assert_eq!(a.id(), x.id(), "the slot is reused");
    assert_eq!(supports.of(&g, a)[0].variable(), a);
}

#[test]
#[cfg(debug_assertions)]
fn every_use_of_a_stale_handle_is_detected() {
    let mut g = Graph::new();
    let x = g.var("x", Sort::Bits(8)).unwrap();
    let one = g.word(8, 1);
    let dead = g.add(x, one);
    g.collect(&g.mark([x, one]));
    // Detected while the slot is free and after it has been reused.
    for fill in [false, true] {
        if fill {
            let two = g.word(8, 2);
            assert_eq!(two.id(), dead.id());
        }
        let uses: [fn(&mut Graph, Expr) -> bool; 3] =
            [|g, e| g.is_const(e), |g, e| g.not(e) == e, |g, e| g.mark([e]).has(e)];
        for use_it in uses {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| use_it(&mut g, dead)));
            let message = *caught.expect_err("a panic").downcast::<String>().expect("a message");
            assert!(message.contains("stale handle"), "{message}");
        }
    }
}
