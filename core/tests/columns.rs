//! `columns` agrees with `eval` in every lane: for random expressions with all leaves varying, with all but one
//! fixed, with elements bound one by one, and with word reads bound as a whole.

use crate::terms;
use crate::terms::{Random, V, World};
use partita_core::expr::columns::{Columns, Plan, lanes_of};
use partita_core::expr::walk::Atom;
use partita_core::expr::{Bits, Expr, Graph, Model, Op, Sort, Value};

fn check(world: &mut World, columns: &mut Columns, roots: &[Expr]) {
    let plan = Plan::new(&world.graph, roots);
    let all = world.models.len();
    let varying: Vec<Model> = world.models.clone();
    let one = world.random.below(all as u64) as usize;
    // All models at once; one model in several lanes; a number of lanes that is not a multiple of 64.
    let odd = all.min(1 + world.random.below(100) as usize);
    let cases: [(Vec<usize>, bool); 3] =
        [((0..all).collect(), false), (vec![one; 70], true), ((0..odd).collect(), false)];
    for (lanes, fixed) in cases {
        let models: Vec<Model> = lanes.iter().map(|&i| varying[i].clone()).collect();
        let mut tile = columns.tile(&plan, lanes.len());
        if fixed {
            bind_fixed(&world.graph, &plan, &mut tile, &models[0]);
        } else {
            tile.bind_models(&models);
        }
        let mut satisfied = vec![true; lanes.len()];
        let mut boolean = true;
        for (number, &root) in roots.iter().enumerate() {
            let table = world.table(root);
            let right = |lane: usize| table[lanes[lane]].bits();
            for lane in 0..lanes.len() {
                assert_eq!(tile.bits(number, lane), *right(lane), "lane {lane} of {}", world.show(root));
            }
            if world.graph.width(root) <= 64 {
                let words: Vec<u64> = (0..lanes.len()).map(|lane| right(lane).low()).collect();
                assert_eq!(tile.words(number), words);
            }
            boolean &= world.graph.is_bool(root);
            if world.graph.is_bool(root) {
                let yes: Vec<usize> = (0..lanes.len()).filter(|&lane| !right(lane).is_zero()).collect();
                assert_eq!(lanes_of(tile.truth(number)).collect::<Vec<_>>(), yes);
                satisfied.iter_mut().enumerate().for_each(|(lane, s)| *s &= !right(lane).is_zero());
            }
        }
        if boolean {
            let yes: Vec<usize> = (0..lanes.len()).filter(|&lane| satisfied[lane]).collect();
            assert_eq!(lanes_of(tile.satisfying()).collect::<Vec<_>>(), yes);
        }
    }
}

/// One value in all lanes, array elements one by one.
fn bind_fixed(graph: &Graph, plan: &Plan, tile: &mut partita_core::expr::columns::Tile<'_>, model: &Model) {
    for atom in plan.atoms().collect::<Vec<_>>() {
        match atom {
            Atom::Variable(v) => {
                assert!(tile.bind_same(atom, &model.bits(v, graph.width(v))));
            }
            Atom::Element(array, index) => {
                let Sort::Array { index: width, .. } = graph.sort(array) else { unreachable!("an array") };
                let value = model.array(array).unwrap().get(&Bits::word(width, index));
                assert!(tile.bind_same(atom, &value));
            }
            Atom::Array(array) => {
                let Sort::Array { index: width, .. } = graph.sort(array) else { unreachable!("an array") };
                for at in 0..1 << width {
                    let value = model.array(array).unwrap().get(&Bits::word(width, at));
                    assert!(tile.bind_same(Atom::Element(array, at), &value));
                }
            }
        }
    }
}

fn run(seed: u64, sorts: &[Sort], widest: u32, steps: u32) {
    run_world(World::new(seed, sorts, widest, 64), steps);
}

fn run_world(mut world: World, steps: u32) {
    let mut columns = Columns::new();
    for _ in 0..steps {
        let mut roots: Vec<Expr> = (0..1 + world.random.below(3)).map(|_| world.step()).collect();
        roots.extend((0..2).map(|_| world.some(Sort::Bool)));
        roots.retain(|&root| !world.graph.is_array(root));
        check(&mut world, &mut columns, &roots);
        roots.retain(|&root| world.graph.is_bool(root));
        check(&mut world, &mut columns, &roots);
    }
}

#[test]
fn random_terms_have_their_value_in_every_lane() {
    let mut random = Random::new(3);
    for seed in 0..60 {
        let array = Sort::Array { index: 1 + random.below(3) as u32, element: 1 + random.below(8) as u32 };
        let sorts = [Sort::Bits(1 + random.below(8) as u32), Sort::Bits(4), Sort::Bool, array];
        run(seed, &sorts, 40, 60);
    }
}

#[test]
fn random_float_terms_have_their_value_in_every_lane() {
    for seed in 0..20 {
        let width = [5, 16, 64, 80][seed as usize % 4];
        let sorts = [Sort::Bits(width), Sort::Bits(width), Sort::Bits(4), Sort::Bool];
        let mut world = World::new(200 + seed, &sorts, 128, 64);
        world.floats = true;
        run_world(world, 40);
    }
}

#[test]
fn random_wide_terms_have_their_value_in_every_lane() {
    let mut random = Random::new(4);
    for seed in 0..30 {
        let array = Sort::Array { index: 1 + random.below(3) as u32, element: 8 + random.below(70) as u32 };
        let sorts =
            [Sort::Bits(65 + random.below(66) as u32), Sort::Bits(64), Sort::Bits(3), Sort::Bool, array];
        run(100 + seed, &sorts, 200, 60);
    }
}

#[test]
fn a_word_read_can_be_bound_as_a_whole() {
    let mut g = Graph::new();
    let input = g.var("input", Sort::Array { index: 32, element: 8 }).unwrap();
    let zero = g.word(32, 0);
    let word = g.read(input, zero, 4);
    assert_eq!(g.op(word), Op::Read);
    let byte = g.select(input, zero);
    let wide = g.zext(byte, 32);
    let sum = g.add(word, wide);
    let plan = Plan::new(&g, &[sum, word]);
    let mut columns = Columns::new();
    let mut tile = columns.tile(&plan, 3);
    assert!(tile.bind_read(word, &[1, 2, 0x0400_0003]));
    assert!(tile.bind_read(byte, &[10, 20, 30]));
    assert_eq!(tile.words(0), [11, 22, 0x0400_0021]);
    assert_eq!(tile.words(1), [1, 2, 0x0400_0003]);
    // Otherwise it is composed of its bytes; unbound elements are zero.
    let mut tile = columns.tile(&plan, 3);
    assert!(tile.bind(Atom::Element(input, 0), &[10, 20, 30]));
    assert!(tile.bind_same(Atom::Element(input, 3), &Bits::word(8, 1)));
    assert!(!tile.bind_same(Atom::Element(input, 4), &Bits::word(8, 1)), "not read by the plan");
    assert_eq!(tile.words(1), [0x0100_000a, 0x0100_0014, 0x0100_001e]);
    let zeros = columns.tile(&plan, 2).words(0).to_vec();
    assert_eq!(zeros, [0, 0]);
}

#[test]
fn single_elements_take_precedence_over_arrays() {
    let mut g = Graph::new();
    let sort = Sort::Array { index: 2, element: 8 };
    let array = g.var("a", sort).unwrap();
    let i = g.var("i", Sort::Bits(2)).unwrap();
    let read = g.select(array, i);
    let plan = Plan::new(&g, &[read]);
    assert_eq!(plan.atoms().collect::<Vec<_>>(), [Atom::Variable(i), Atom::Array(array)]);
    let elements = V::Array([5, 6, 7, 8].iter().map(|&v| Bits::word(8, v)).collect());
    let Value::Array(value) = terms::to_value(sort, &elements) else { unreachable!("an array") };
    let mut columns = Columns::new();
    let mut tile = columns.tile(&plan, 4);
    assert!(tile.bind(Atom::Variable(i), &[0, 1, 2, 3]));
    assert!(tile.bind_array(array, &[Some(value.clone()), Some(value.clone()), Some(value), None]));
    assert!(tile.bind(Atom::Element(array, 1), &[0, 77, 0, 0]));
    assert_eq!(tile.words(0), [5, 77, 7, 0]);
}

#[test]
fn memory_is_bounded_by_live_columns() {
    let mut g = Graph::new();
    let x = g.var("x", Sort::Bits(32)).unwrap();
    let mut e = x;
    for i in 0..10_000 {
        let c = g.word(32, 2 * (i % 5) + 3);
        e = g.mul(e, x);
        e = g.xor(e, c);
    }
    let plan = Plan::new(&g, &[e]);
    assert!(plan.columns() < 16, "{} columns", plan.columns());
}
