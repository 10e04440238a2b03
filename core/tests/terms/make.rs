//! Requests to the builders of a `Graph`, and the value of each.

use super::World;
use crate::float::shapes::float_shapes;
use partita_core::expr::eval::{self, Shape};
use partita_core::expr::float::{FloatParameter, Format, Rounding};
use partita_core::expr::{Bits, Expr, Family, FloatOp, Graph, Op, ResultSort, Sort};
use std::sync::Arc;

/// A value: a boolean or bit-vector, or all elements of an array.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum V {
    Bits(Bits),
    Array(Vec<Bits>),
}

impl V {
    pub(crate) fn bits(&self) -> &Bits {
        match self {
            V::Bits(bits) => bits,
            V::Array(_) => unreachable!("a bit-vector"),
        }
    }

    fn elements(&self) -> &[Bits] {
        match self {
            V::Array(elements) => elements,
            V::Bits(_) => unreachable!("an array"),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Make {
    /// An operator without parameters.
    Plain(Op),
    /// An operator with a parameter and a result like its operand.
    Parameter(Op, u32),
    /// A float operator with its packed parameter.
    Float {
        op: FloatOp,
        low: u32,
        width: u32,
    },
    Extract {
        low: u32,
        width: u32,
    },
    ZExt(u32),
    SExt(u32),
    Read(u32),
    Table(Arc<[u64]>),
    ConstArray(u32),
    Derived(Derived),
}

/// Builders without an operator of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Derived {
    Nand,
    Nor,
    Xnor,
    Implies,
    Neg,
    SMod,
    RotateLeft(u64),
    RotateRight(u64),
    Repeat(u32),
    Comp,
    Ne,
    Distinct,
    BoolToBit,
    BitToBool,
    NegOverflows,
    UAddOverflows,
    SAddOverflows,
    USubOverflows,
    SSubOverflows,
    UMulOverflows,
    SMulOverflows,
    SDivOverflows,
}

/// Binary operators of some families.
fn binary_operators(families: impl Fn(Family) -> bool) -> Vec<Op> {
    Op::ALL.iter().copied().filter(|op| op.arity() == 2 && families(op.family())).collect()
}

const PREDICATES: [Derived; 8] = [
    Derived::NegOverflows,
    Derived::UAddOverflows,
    Derived::SAddOverflows,
    Derived::USubOverflows,
    Derived::SSubOverflows,
    Derived::UMulOverflows,
    Derived::SMulOverflows,
    Derived::SDivOverflows,
];

impl Make {
    /// The request that builds the node `e` from its operands.
    pub(crate) fn of(graph: &Graph, e: Expr) -> Make {
        match graph.op(e) {
            Op::Extract => Make::Extract { low: graph.extract_low(e), width: graph.width(e) },
            Op::ZExt => Make::ZExt(graph.width(e)),
            Op::SExt => Make::SExt(graph.width(e)),
            Op::Read => Make::Read(graph.read_count(e)),
            Op::Table => Make::Table(graph.table(e).elements.clone()),
            Op::ConstArray => match graph.sort(e) {
                Sort::Array { index, .. } => Make::ConstArray(index),
                Sort::Bool | Sort::Bits(_) => unreachable!("an array"),
            },
            op => match (op.family(), graph.parameter(e)) {
                (Family::Float(op), Some(low)) => Make::Float { op, low, width: graph.width(e) },
                (_, Some(parameter)) => Make::Parameter(op, parameter),
                (_, None) => Make::Plain(op),
            },
        }
    }

    pub(crate) fn sort(&self, args: &[Sort]) -> Sort {
        let width = |i: usize| match args[i] {
            Sort::Bool => 1,
            Sort::Bits(width) => width,
            Sort::Array { element, .. } => element,
        };
        match self {
            Make::Plain(op) if op.is_comparison() => Sort::Bool,
            Make::Plain(Op::Concat) => Sort::Bits(width(0) + width(1)),
            Make::Plain(Op::Ite) => args[1],
            Make::Plain(_) | Make::Parameter(..) | Make::Table(_) => args[0],
            Make::Float { op: FloatOp::FLt | FloatOp::FLe | FloatOp::FEq, .. } => Sort::Bool,
            Make::Float { width, .. } => Sort::Bits(*width),
            Make::Extract { width, .. } | Make::ZExt(width) | Make::SExt(width) => Sort::Bits(*width),
            Make::Read(count) => Sort::Bits(width(0) * count),
            Make::ConstArray(index) => Sort::Array { index: *index, element: width(0) },
            Make::Derived(derived) => match derived {
                Derived::Nand | Derived::Nor | Derived::Xnor | Derived::Implies | Derived::Neg => args[0],
                Derived::SMod | Derived::RotateLeft(_) | Derived::RotateRight(_) => args[0],
                Derived::Repeat(count) => Sort::Bits(width(0) * count),
                Derived::Comp | Derived::BoolToBit => Sort::Bits(1),
                Derived::Ne | Derived::Distinct | Derived::BitToBool => Sort::Bool,
                Derived::NegOverflows | Derived::UAddOverflows | Derived::SAddOverflows => Sort::Bool,
                Derived::USubOverflows | Derived::SSubOverflows | Derived::UMulOverflows => Sort::Bool,
                Derived::SMulOverflows | Derived::SDivOverflows => Sort::Bool,
            },
        }
    }

    pub(crate) fn build(&self, g: &mut Graph, args: &[Expr]) -> Expr {
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(a);
        match self {
            Make::Plain(op) => g.build(*op, 0, 0, args),
            Make::Parameter(op, parameter) => g.build(*op, 0, *parameter, args),
            Make::Float { op, low, width } => g.build((*op).into(), *width, *low, args),
            Make::Extract { low, width } => g.extract(a, *low, *width),
            Make::ZExt(width) => g.zext(a, *width),
            Make::SExt(width) => g.sext(a, *width),
            Make::Read(count) => g.read(a, b, *count),
            Make::Table(elements) => g.table_over(a, elements.clone()),
            Make::ConstArray(index) => g.const_array(*index, a),
            Make::Derived(derived) => match derived {
                Derived::Nand => g.nand(a, b),
                Derived::Nor => g.nor(a, b),
                Derived::Xnor => g.xnor(a, b),
                Derived::Implies => g.implies(a, b),
                Derived::Neg => g.neg(a),
                Derived::SMod => g.smod(a, b),
                Derived::RotateLeft(by) => g.rotate_left(a, *by),
                Derived::RotateRight(by) => g.rotate_right(a, *by),
                Derived::Repeat(count) => g.repeat(a, *count),
                Derived::Comp => g.comp(a, b),
                Derived::Ne => g.ne(a, b),
                Derived::Distinct => g.distinct(args),
                Derived::BoolToBit => g.bool_to_bit(a),
                Derived::BitToBool => g.bit_to_bool(a),
                Derived::NegOverflows => g.neg_overflows(a),
                Derived::UAddOverflows => g.uadd_overflows(a, b),
                Derived::SAddOverflows => g.sadd_overflows(a, b),
                Derived::USubOverflows => g.usub_overflows(a, b),
                Derived::SSubOverflows => g.ssub_overflows(a, b),
                Derived::UMulOverflows => g.umul_overflows(a, b),
                Derived::SMulOverflows => g.smul_overflows(a, b).unwrap(),
                Derived::SDivOverflows => g.sdiv_overflows(a, b),
            },
        }
    }

    pub(crate) fn meaning(&self, args: &[&V]) -> V {
        V::Bits(match self {
            Make::Plain(Op::Ite) => return args[if args[0].bits().is_zero() { 2 } else { 1 }].clone(),
            Make::Plain(Op::Store) => {
                let mut elements = args[0].elements().to_vec();
                elements[args[1].bits().low() as usize] = args[2].bits().clone();
                return V::Array(elements);
            }
            Make::Plain(Op::Eq) => Bits::from_bool(args[0] == args[1]),
            Make::Plain(op) => {
                let (a, b) = (args[0].bits(), args.last().expect("an operand").bits());
                let width = match op {
                    Op::Concat => a.width() + b.width(),
                    _ if op.is_comparison() => 1,
                    _ => a.width(),
                };
                apply(*op, width, b.width(), a, b)
            }
            Make::Parameter(op, parameter) => {
                let a = args[0].bits();
                apply(*op, a.width(), *parameter, a, a)
            }
            Make::Float { op, low, width } => {
                let arg = |i: usize| args[i.min(args.len() - 1)].bits();
                let s = Shape { width: *width, operand: arg(0).width(), low: *low };
                eval::wide((*op).into(), s, arg(0), arg(1), arg(2))
            }
            Make::Extract { low, width } => apply(Op::Extract, *width, *low, args[0].bits(), args[0].bits()),
            Make::ZExt(width) => apply(Op::ZExt, *width, 0, args[0].bits(), args[0].bits()),
            Make::SExt(width) => apply(Op::SExt, *width, 0, args[0].bits(), args[0].bits()),
            Make::Read(count) => {
                let (elements, at) = (args[0].elements(), args[1].bits().low() as usize);
                let element = |i: u32| &elements[(at + i as usize) % elements.len()];
                (1..*count).fold(element(0).clone(), |word, i| element(i).concat(&word))
            }
            Make::Table(constants) => {
                let mut elements = args[0].elements().to_vec();
                for (to, &from) in elements.iter_mut().zip(constants.iter()) {
                    *to = Bits::word(to.width(), from);
                }
                return V::Array(elements);
            }
            Make::ConstArray(index) => return V::Array(vec![args[0].bits().clone(); 1 << index]),
            Make::Derived(derived) => {
                let args: Vec<&Bits> = args.iter().map(|a| a.bits()).collect();
                derived.meaning(&args)
            }
        })
    }

    /// A request over members of the world; `None` if the random choice does not fit.
    pub(crate) fn choose(w: &mut World) -> Option<(Make, Vec<Expr>)> {
        let pair = |w: &mut World, a: Expr| {
            let sort = w.graph.sort(a);
            let b = w.some_related(sort, a);
            if w.random.chance(50) { vec![a, b] } else { vec![b, a] }
        };
        match w.random.below(if w.floats { 26 } else { 20 }) {
            20.. => Make::choose_float(w),
            0..=3 => {
                let a = w.some_bits();
                let op =
                    *w.random.pick(&binary_operators(|f| matches!(f, Family::Arith(_) | Family::Shift(_))));
                Some((Make::Plain(op), pair(w, a)))
            }
            4..=5 => {
                let sort = if w.random.chance(30) { Sort::Bool } else { w.some_sort() };
                let a = w.some(sort);
                let op = *w.random.pick(&binary_operators(|f| matches!(f, Family::Bits(_))));
                (!w.graph.is_array(a)).then(|| (Make::Plain(op), pair(w, a)))
            }
            6..=8 => {
                let a = w.some_bits();
                let op = *w.random.pick(&binary_operators(|f| matches!(f, Family::Compare(_))));
                Some((Make::Plain(op), pair(w, a)))
            }
            9 => {
                let sort = w.some_sort();
                let a = w.some(sort);
                Some((Make::Plain(Op::Eq), pair(w, a)))
            }
            10 => {
                let sort = if w.random.chance(30) { Sort::Bool } else { w.some_sort() };
                let a = w.some(sort);
                let is_bool = sort == Sort::Bool;
                let unary = Op::ALL
                    .iter()
                    .copied()
                    .filter(|op| op.is_on_words() && op.arity() == 1 && op.result() == ResultSort::Operand)
                    .filter(|op| !matches!(op.family(), Family::Float(_)));
                let unary: Vec<Op> = unary.filter(|op| !is_bool || op.takes_bools()).collect();
                let op = if unary.len() > 1 { *w.random.pick(&unary) } else { unary[0] };
                let make = if op.has_parameter() {
                    Make::Parameter(op, w.random.below(w.graph.width(a).into()) as u32)
                } else {
                    Make::Plain(op)
                };
                (!w.graph.is_array(a)).then(|| (make, vec![a]))
            }
            11..=12 => {
                let sort = if w.random.chance(20) { Sort::Bool } else { w.some_sort() };
                let (p, a) = (w.some(Sort::Bool), w.some(sort));
                let mut args = pair(w, a);
                args.insert(0, p);
                Some((Make::Plain(Op::Ite), args))
            }
            13 => {
                let (a, b) = (w.some_bits(), w.some_bits());
                let b = if w.random.chance(40) { w.some_related(w.graph.sort(b), a) } else { b };
                let fits = w.graph.width(a) + w.graph.width(b) <= w.widest;
                fits.then(|| (Make::Plain(Op::Concat), vec![a, b]))
            }
            14 => {
                let a = w.some_bits();
                let room = u64::from(w.widest.checked_sub(w.graph.width(a))?);
                let width = w.graph.width(a) + w.random.below(room + 1) as u32;
                let make = if w.random.chance(50) { Make::ZExt(width) } else { Make::SExt(width) };
                Some((make, vec![a]))
            }
            15..=16 => {
                let a = w.some_bits();
                let width = w.graph.width(a);
                let low = w.random.below(width.into()) as u32;
                let make = Make::Extract { low, width: 1 + w.random.below((width - low).into()) as u32 };
                Some((make, vec![a]))
            }
            17..=18 => Make::choose_array(w),
            _ => Make::choose_derived(w, pair),
        }
    }

    /// A float operator over a word, whose width is that of a small format or, if it is larger, of a random one.
    fn choose_float(w: &mut World) -> Option<(Make, Vec<Expr>)> {
        let a = w.some_bits();
        let (sort, operand) = (w.graph.sort(a), w.graph.width(a));
        let floats = Op::ALL.iter().filter_map(|op| match op.family() {
            Family::Float(op) => Some(op),
            _ => None,
        });
        let op = *w.random.pick(&floats.collect::<Vec<_>>());
        let shapes = float_shapes(op, operand);
        let (low, width) = if operand >= 8 && op.is_arithmetic() {
            let exponent = 2 + w.random.below(u64::from(operand - 4).min(12)) as u32;
            let rounding = Rounding::ALL[if op.rounds() { w.random.below(5) as usize } else { 0 }];
            let format = Format::new(exponent, operand - exponent)?;
            (FloatParameter::new(format, rounding).pack(op), operand)
        } else if shapes.is_empty() {
            return None;
        } else {
            let shape = w.random.pick(&shapes);
            (shape.low, shape.width)
        };
        if width > w.widest {
            return None;
        }
        let mut args = vec![a];
        while args.len() < Op::from(op).arity() {
            args.push(w.some_related(sort, a));
        }
        Some((Make::Float { op, low, width }, args))
    }

    fn choose_array(w: &mut World) -> Option<(Make, Vec<Expr>)> {
        let array = w.some_array()?;
        let Sort::Array { index, element } = w.graph.sort(array) else { unreachable!("an array") };
        let at = w.some_related(Sort::Bits(index), array);
        match w.random.below(12) {
            0..=3 => {
                let e = w.some_related(Sort::Bits(element), array);
                Some((Make::Plain(Op::Store), vec![array, at, e]))
            }
            4 => {
                let e = w.some(Sort::Bits(element));
                Some((Make::ConstArray(index), vec![e]))
            }
            5 if element <= 64 => {
                let count = w.random.below((1 << index) + 1);
                let mask = u64::MAX >> (64 - element);
                let elements: Vec<u64> = (0..count).map(|_| w.random.next() & mask).collect();
                Some((Make::Table(elements.into()), vec![array]))
            }
            _ => {
                let most = (w.widest / element).min(5);
                let count = 1 + w.random.below(most.max(1).into()) as u32;
                (element <= w.widest).then(|| (Make::Read(count), vec![array, at]))
            }
        }
    }

    fn choose_derived(
        w: &mut World,
        pair: impl Fn(&mut World, Expr) -> Vec<Expr>,
    ) -> Option<(Make, Vec<Expr>)> {
        let a = w.some_bits();
        let (width, by) = (w.graph.width(a), w.random.below(20));
        let (derived, args) = match w.random.below(15) {
            0 => (Derived::Nand, pair(w, a)),
            1 => (Derived::Nor, pair(w, a)),
            2 => (Derived::Xnor, pair(w, a)),
            3 => (Derived::Implies, vec![w.some(Sort::Bool), w.some(Sort::Bool)]),
            4 => (Derived::Neg, vec![a]),
            5 => (Derived::SMod, pair(w, a)),
            6 => (Derived::RotateLeft(by), vec![a]),
            7 => (Derived::RotateRight(by), vec![a]),
            8 if width * 3 <= w.widest => (Derived::Repeat(3), vec![a]),
            9 => (Derived::Comp, pair(w, a)),
            10 => (Derived::Ne, pair(w, a)),
            11 => (Derived::Distinct, vec![a, w.some(Sort::Bits(width)), w.some(Sort::Bits(width))]),
            12 => (Derived::BoolToBit, vec![w.some(Sort::Bool)]),
            13 => (Derived::BitToBool, vec![w.some(Sort::Bits(1))]),
            _ => (*w.random.pick(&PREDICATES), pair(w, a)),
        };
        Some((Make::Derived(derived), args))
    }
}

/// Value of the operator, by `eval::word` or `eval::wide` depending on the widths.
fn apply(op: Op, width: u32, low: u32, a: &Bits, b: &Bits) -> Bits {
    let s = Shape { width, operand: a.width(), low };
    if width <= 64 && a.width() <= 64 {
        Bits::word(width, eval::word(op, s, a.low(), b.low(), 0))
    } else {
        eval::wide(op, s, a, b, a)
    }
}

impl Derived {
    /// As in the SMT-LIB standard. Overflow predicates compare with the exact result, in twice the width.
    fn meaning(self, args: &[&Bits]) -> Bits {
        let (a, b) = (args[0], args.last().copied().expect("an operand"));
        let width = a.width();
        let op2 = |op: Op, a: &Bits, b: &Bits| apply(op, a.width(), 0, a, b);
        // The exact result fits in `2 * width + 1` bits; does it fit in `width`?
        let exact = |op: Op, signed: bool| {
            let extend = |x: &Bits| if signed { x.sext(2 * width + 1) } else { x.zext(2 * width + 1) };
            let result = eval::wide(
                op,
                Shape { width: 2 * width + 1, operand: 2 * width + 1, low: 0 },
                &extend(a),
                &extend(b),
                &extend(a),
            );
            Bits::from_bool(extend(&result.extract(0, width)) != result)
        };
        match self {
            Derived::Nand => op2(Op::And, a, b).not(),
            Derived::Nor => op2(Op::Or, a, b).not(),
            Derived::Xnor => op2(Op::Xor, a, b).not(),
            Derived::Implies => Bits::from_bool(a.is_zero() || !b.is_zero()),
            Derived::Neg => a.neg(),
            Derived::SMod => {
                let magnitude = |x: &Bits| if x.sign() { x.neg() } else { x.clone() };
                let rest = op2(Op::URem, &magnitude(a), &magnitude(b));
                match (rest.is_zero(), a.sign(), b.sign()) {
                    (true, _, _) | (_, false, false) => rest,
                    (_, true, false) => rest.neg().add(b),
                    (_, false, true) => rest.add(b),
                    (_, true, true) => rest.neg(),
                }
            }
            Derived::RotateLeft(by) => {
                let bit = |i: u32| {
                    a.bit(
                        ((u64::from(i) + u64::from(width) - by % u64::from(width)) % u64::from(width)) as u32,
                    )
                };
                from_bits(width, bit)
            }
            Derived::RotateRight(by) => {
                let bit = |i: u32| a.bit(((u64::from(i) + by) % u64::from(width)) as u32);
                from_bits(width, bit)
            }
            Derived::Repeat(count) => from_bits(width * count, |i| a.bit(i % width)),
            Derived::Comp => Bits::from_bool(a == b),
            Derived::Ne => Bits::from_bool(a != b),
            Derived::Distinct => {
                let different = (0..args.len()).all(|i| (0..i).all(|j| args[i] != args[j]));
                Bits::from_bool(different)
            }
            Derived::BoolToBit | Derived::BitToBool => a.clone(),
            Derived::NegOverflows => {
                let wide = a.sext(width + 1).neg();
                Bits::from_bool(wide.extract(0, width).sext(width + 1) != wide)
            }
            Derived::UAddOverflows => exact(Op::Add, false),
            Derived::SAddOverflows => exact(Op::Add, true),
            Derived::USubOverflows => exact(Op::Sub, false),
            Derived::SSubOverflows => exact(Op::Sub, true),
            Derived::UMulOverflows => exact(Op::Mul, false),
            Derived::SMulOverflows => exact(Op::Mul, true),
            Derived::SDivOverflows if b.is_zero() => Bits::from_bool(false),
            Derived::SDivOverflows => exact(Op::SDiv, true),
        }
    }
}

fn from_bits(width: u32, bit: impl Fn(u32) -> bool) -> Bits {
    let mut words = vec![0; width.div_ceil(64) as usize];
    for i in (0..width).filter(|&i| bit(i)) {
        words[(i / 64) as usize] |= 1 << (i % 64);
    }
    Bits::from_words(width, &words)
}
