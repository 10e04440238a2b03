//! Builders of expressions. Each function returns the canonical, simplified expression. SMT-LIB functions that
//! are not operators are composed here.
//!
//! Operands must have matching sorts, which only debug builds check. Input from users is checked before
//! (`SortError`).

use super::eval::{self, Shape};
use super::float::FloatParameter;
use super::{
    ArrayOp, Bits, Expr, Family, Graph, MAX_WIDTH, Op, ResultSort, ShapeOp, Sort, SortError, TableData,
};
use std::sync::Arc;

/// Start of the names of placeholders; inputs have other names.
pub const PLACEHOLDER: &str = "?undefined ";

/// Start of the names of inputs for memory that was never written (`--uninitialized symbolic`); other inputs have other
/// names.
pub const UNWRITTEN: &str = "?unwritten ";

/// Operation whose result LLVM calls poison.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Poison {
    /// One whose flags exclude its operands.
    Flags,
    /// A shift by the width of its operand or more.
    Shift,
    /// A count of the zeros of 0.
    Count,
}

impl Poison {
    const ALL: [Poison; 3] = [Poison::Flags, Poison::Shift, Poison::Count];

    /// Start of the rest of the names of such placeholders.
    const fn prefix(self) -> &'static str {
        match self {
            Poison::Flags => "poison flags ",
            Poison::Shift => "poison shift ",
            Poison::Count => "poison count ",
        }
    }
}

impl Graph {
    // Leaves.

    pub fn boolean(&self, value: bool) -> Expr {
        self.handle(value as u32)
    }

    /// Returns the constant `value` of at most 64 bits, truncated to `width`.
    pub fn word(&mut self, width: u32, value: u64) -> Expr {
        if width > 64 {
            return self.constant(Bits::word(width, value));
        }
        let value = value & super::bits::mask(width);
        self.intern(Op::Const, Sort::Bits(width), [value as u32, (value >> 32) as u32, 0])
    }

    pub fn constant(&mut self, bits: Bits) -> Expr {
        let width = bits.width();
        if width <= 64 {
            return self.word(width, bits.low());
        }
        let number = match self.wide_numbers.get(&bits) {
            Some(&number) => number,
            None => {
                let number = self.wides.insert(bits.clone());
                self.wide_numbers.insert(bits, number);
                number
            }
        };
        self.intern(Op::Const, Sort::Bits(width), [number, 0, 0])
    }

    /// Returns a constant of the given sort, boolean or bit-vector.
    pub fn constant_of(&mut self, sort: Sort, bits: Bits) -> Expr {
        match sort {
            Sort::Bool => self.boolean(!bits.is_zero()),
            Sort::Bits(_) => self.constant(bits),
            Sort::Array { .. } => unreachable!("array constants are `const_array` or `table`"),
        }
    }

    /// Returns the variable of this name. A name has one sort for as long as an expression uses it.
    pub fn var(&mut self, name: &str, sort: Sort) -> Result<Expr, SortError> {
        if let Some(known) = self.lookup(name) {
            let known_sort = self.sort(known);
            return if known_sort == sort {
                Ok(known)
            } else {
                Err(SortError(format!("`{name}` has sort {known_sort}, and cannot also have sort {sort}")))
            };
        }
        let name: Arc<str> = name.into();
        let number = self.names.insert(name.clone());
        let e = self.intern(Op::Var, sort, [number, 0, 0]);
        self.variables.insert(name, e);
        Ok(e)
    }

    /// Creates a variable named `prefix`, or `prefix!N` if the name exists.
    pub fn fresh_var(&mut self, prefix: &str, sort: Sort) -> Expr {
        let mut name = prefix.to_string();
        let mut n = 0;
        while self.variables.contains_key(name.as_str()) {
            n += 1;
            name = format!("{prefix}!{n}");
        }
        self.var(&name, sort).expect("the name is new")
    }

    /// The placeholder of this name: a variable that stands for no input, but for a value that nothing defines.
    pub fn placeholder(&mut self, name: &str, sort: Sort) -> Expr {
        self.placeholders += 1;
        self.var(&format!("{PLACEHOLDER}{name}"), sort).expect("the name contains the sort")
    }

    /// A placeholder that nothing else mentions.
    pub fn fresh_placeholder(&mut self, sort: Sort) -> Expr {
        let name = format!("{} {sort}", self.placeholders);
        self.placeholder(&name, sort)
    }

    /// A placeholder for a result that LLVM calls poison: of an operation that excludes its operands.
    pub fn fresh_poison(&mut self, cause: Poison, sort: Sort) -> Expr {
        let name = format!("{}{} {sort}", cause.prefix(), self.placeholders);
        self.placeholder(&name, sort)
    }

    /// The input for memory that was never written: of the object that its path numbers `birth`, with `size` bytes.
    /// It becomes an input of a path where the path decides something by it.
    pub fn unwritten(&mut self, birth: u64, size: u64, sort: Sort) -> Expr {
        self.placeholders += 1;
        self.var(&format!("{UNWRITTEN}{birth} {size}"), sort).expect("such variables have one sort")
    }

    /// Number of bytes of the object, of a variable for memory that was never written.
    pub fn unwritten_size(&self, variable: Expr) -> Option<u64> {
        self.name(variable).strip_prefix(UNWRITTEN)?.split_once(' ')?.1.parse().ok()
    }

    /// Operation whose result the placeholder stands for.
    pub fn poison(&self, variable: Expr) -> Option<Poison> {
        let name = self.name(variable).strip_prefix(PLACEHOLDER)?;
        Poison::ALL.into_iter().find(|cause| name.starts_with(cause.prefix()))
    }

    /// Was a placeholder, or an input for memory that was never written, ever made?
    pub fn has_placeholders(&self) -> bool {
        self.placeholders > 0
    }

    pub fn is_placeholder(&self, variable: Expr) -> bool {
        self.name(variable).starts_with(PLACEHOLDER)
    }

    // The common path: fold constants, order commuting operands, apply rules.

    fn unary(&mut self, op: Op, sort: Sort, a: Expr, low: u32) -> Expr {
        if self.is_const(a) {
            let width = self.width_of(sort);
            let shape = Shape { width, operand: self.width(a), low };
            let bits = self.const_bits(a).expect("a constant");
            let folded = if width <= 64 && shape.operand <= 64 {
                Bits::word(width, eval::word(op, shape, bits.low(), 0, 0))
            } else {
                eval::wide(op, shape, &bits, &bits, &bits)
            };
            return self.constant_of(sort, folded);
        }
        match self.guarded(|g| g.rewrite1(op, sort, a, low)) {
            Some(e) => e,
            None => self.intern(op, sort, [a.id(), low, 0]),
        }
    }

    fn binary(&mut self, op: Op, sort: Sort, mut a: Expr, mut b: Expr) -> Expr {
        debug_assert!(op == Op::Concat || self.sort(a) == self.sort(b), "{op:?} on unequal sorts");
        if self.is_const(a) && self.is_const(b) {
            return self.fold(op, sort, a, b);
        }
        if op.commutes() && self.swaps(a, b) {
            std::mem::swap(&mut a, &mut b);
        }
        match self.guarded(|g| g.rewrite2(op, sort, a, b)) {
            Some(e) => e,
            None => self.intern2(op, sort, a, b),
        }
    }

    /// Returns whether the operands of a commuting operator are swapped: constants go right, otherwise the older
    /// operand goes first.
    #[inline]
    pub(in crate::expr) fn swaps(&self, a: Expr, b: Expr) -> bool {
        self.is_const(a) || (a > b && !self.is_const(b))
    }

    /// Evaluates an operator on two constants.
    fn fold(&mut self, op: Op, sort: Sort, a: Expr, b: Expr) -> Expr {
        let width = self.width_of(sort);
        let shape = Shape { width, operand: self.width(a), low: self.width(b) };
        let folded = match (self.const_word(a), self.const_word(b)) {
            (Some(a), Some(b)) if width <= 64 => Bits::word(width, eval::word(op, shape, a, b, 0)),
            _ => {
                let (a, b) =
                    (self.const_bits(a).expect("a constant"), self.const_bits(b).expect("a constant"));
                eval::wide(op, shape, &a, &b, &a)
            }
        };
        self.constant_of(sort, folded)
    }

    fn width_of(&self, sort: Sort) -> u32 {
        match sort {
            Sort::Bool => 1,
            Sort::Bits(width) => width,
            Sort::Array { element, .. } => element,
        }
    }

    pub(super) fn guarded(&mut self, f: impl FnOnce(&mut Graph) -> Option<Expr>) -> Option<Expr> {
        if !self.rules.enter() {
            return None;
        }
        let result = f(self);
        self.rules.leave();
        result
    }

    /// Builds an operator. `width` and `parameter` are those of the result; operators whose result sort follows
    /// from the first operand ignore the width. Tables are built by `table_over`.
    pub fn build(&mut self, op: Op, width: u32, parameter: u32, kids: &[Expr]) -> Expr {
        match op.family() {
            Family::Leaf(_) | Family::Array(ArrayOp::Table | ArrayOp::ConstArray) => {
                unreachable!("{op:?} is not defined by operands and width")
            }
            Family::Array(ArrayOp::Read) => self.read(kids[0], kids[1], width / self.width(kids[0])),
            Family::Array(ArrayOp::Store) => self.store(kids[0], kids[1], kids[2]),
            Family::Shape(op) => match op {
                ShapeOp::Concat => self.concat(kids[0], kids[1]),
                ShapeOp::Extract => self.extract(kids[0], parameter, width),
                ShapeOp::ZExt => self.zext(kids[0], width),
                ShapeOp::SExt => self.sext(kids[0], width),
                ShapeOp::Ite => self.ite(kids[0], kids[1], kids[2]),
            },
            Family::Float(op) => {
                let parameter = FloatParameter::unpack(op, parameter, self.width(kids[0]));
                self.float(op, parameter, width, kids)
            }
            Family::Bits(_) | Family::Arith(_) | Family::Shift(_) | Family::Compare(_) => match *kids {
                [a] => self.operator1(op, a, parameter),
                [a, b] => self.operator2(op, a, b),
                _ => unreachable!("{op:?} has {} operands", op.arity()),
            },
        }
    }

    fn result_sort(&self, op: Op, operand: Expr) -> Sort {
        match op.result() {
            ResultSort::Operand => self.sort(operand),
            ResultSort::Bool => Sort::Bool,
            ResultSort::Node => unreachable!("the builder of {op:?} computes the sort"),
        }
    }

    fn operator1(&mut self, op: Op, a: Expr, parameter: u32) -> Expr {
        // Negations are cached.
        if op == Op::Not {
            return self.not(a);
        }
        let sort = self.result_sort(op, a);
        self.unary(op, sort, a, parameter)
    }

    /// Builds a binary operator whose result sort follows from its first operand.
    pub(super) fn operator2(&mut self, op: Op, a: Expr, b: Expr) -> Expr {
        let sort = self.result_sort(op, a);
        self.binary(op, sort, a, b)
    }

    // Booleans and bits: `not`, `and`, `or`, `xor`, `eq` and `ite` take both.

    pub fn not(&mut self, a: Expr) -> Expr {
        let sort = self.sort(a);
        if let Some(known) = self.negation(a) {
            return known;
        }
        let not = self.unary(Op::Not, sort, a, 0);
        self.note_negation(a, not);
        not
    }

    pub fn and(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::And, a, b)
    }

    pub fn or(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::Or, a, b)
    }

    pub fn xor(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::Xor, a, b)
    }

    pub fn nand(&mut self, a: Expr, b: Expr) -> Expr {
        let both = self.and(a, b);
        self.not(both)
    }

    pub fn nor(&mut self, a: Expr, b: Expr) -> Expr {
        let either = self.or(a, b);
        self.not(either)
    }

    pub fn xnor(&mut self, a: Expr, b: Expr) -> Expr {
        let differ = self.xor(a, b);
        self.not(differ)
    }

    pub fn implies(&mut self, a: Expr, b: Expr) -> Expr {
        let not_a = self.not(a);
        self.or(not_a, b)
    }

    /// Returns the conjunction of any number of booleans.
    pub fn all(&mut self, parts: impl IntoIterator<Item = Expr>) -> Expr {
        let mut result = self.boolean(true);
        for part in parts {
            result = self.and(result, part);
        }
        result
    }

    pub fn ite(&mut self, condition: Expr, then: Expr, otherwise: Expr) -> Expr {
        debug_assert!(self.is_bool(condition) && self.sort(then) == self.sort(otherwise));
        if self.is_const(condition) {
            return if self.is_true(condition) { then } else { otherwise };
        }
        match self.guarded(|g| g.rewrite_ite(condition, then, otherwise)) {
            Some(e) => e,
            None => {
                let sort = self.sort(then);
                self.intern(Op::Ite, sort, [condition.id(), then.id(), otherwise.id()])
            }
        }
    }

    /// Converts a boolean to a bit-vector of one bit.
    pub fn bool_to_bit(&mut self, condition: Expr) -> Expr {
        let (one, zero) = (self.word(1, 1), self.word(1, 0));
        self.ite(condition, one, zero)
    }

    /// Converts a bit-vector of one bit to a boolean.
    pub fn bit_to_bool(&mut self, bit: Expr) -> Expr {
        let one = self.word(1, 1);
        self.eq(bit, one)
    }

    // Arithmetic.

    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::Add, a, b)
    }

    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::Sub, a, b)
    }

    pub fn neg(&mut self, a: Expr) -> Expr {
        let zero = self.word(self.width(a), 0);
        self.sub(zero, a)
    }

    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::Mul, a, b)
    }

    pub fn udiv(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::UDiv, a, b)
    }

    pub fn urem(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::URem, a, b)
    }

    pub fn sdiv(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::SDiv, a, b)
    }

    pub fn srem(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::SRem, a, b)
    }

    /// Signed remainder with the sign of the divisor: `srem`, plus the divisor if the signs differ.
    /// As SMT-LIB defines it, so that scripts that spell out the definition have the same circuit.
    pub fn smod(&mut self, a: Expr, b: Expr) -> Expr {
        let zero = self.constant(Bits::zero(self.width(a)));
        let (a_negative, b_negative) = (self.slt(a, zero), self.slt(b, zero));
        let [a_size, b_size] = [(a, a_negative), (b, b_negative)].map(|(word, negative)| {
            let negated = self.neg(word);
            self.ite(negative, negated, word)
        });
        let remainder = self.urem(a_size, b_size);
        let negated = self.neg(remainder);
        let (above, below) = (self.add(negated, b), self.add(remainder, b));
        let b_decides = self.ite(b_negative, negated, above);
        let other = self.ite(b_negative, below, remainder);
        let result = self.ite(a_negative, b_decides, other);
        let even = self.eq(remainder, zero);
        self.ite(even, remainder, result)
    }

    // Shifts.

    pub fn shl(&mut self, a: Expr, amount: Expr) -> Expr {
        self.operator2(Op::Shl, a, amount)
    }

    pub fn lshr(&mut self, a: Expr, amount: Expr) -> Expr {
        self.operator2(Op::LShr, a, amount)
    }

    pub fn ashr(&mut self, a: Expr, amount: Expr) -> Expr {
        self.operator2(Op::AShr, a, amount)
    }

    pub fn rotate_left(&mut self, a: Expr, amount: u64) -> Expr {
        let width = self.width(a);
        let amount = (amount % u64::from(width)) as u32;
        if amount == 0 {
            return a;
        }
        let high = self.extract(a, 0, width - amount);
        let low = self.extract(a, width - amount, amount);
        self.concat(high, low)
    }

    pub fn rotate_right(&mut self, a: Expr, amount: u64) -> Expr {
        let width = u64::from(self.width(a));
        self.rotate_left(a, width - amount % width)
    }

    // Comparisons.

    pub fn eq(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::Eq, a, b)
    }

    pub fn ne(&mut self, a: Expr, b: Expr) -> Expr {
        let same = self.eq(a, b);
        self.not(same)
    }

    pub fn distinct(&mut self, parts: &[Expr]) -> Expr {
        let mut result = self.boolean(true);
        for (i, &a) in parts.iter().enumerate() {
            for &b in &parts[..i] {
                let differ = self.ne(a, b);
                result = self.and(result, differ);
            }
        }
        result
    }

    /// Equality as a bit-vector of one bit.
    pub fn comp(&mut self, a: Expr, b: Expr) -> Expr {
        let same = self.eq(a, b);
        self.bool_to_bit(same)
    }

    pub fn ult(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::Ult, a, b)
    }

    pub fn ule(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::Ule, a, b)
    }

    pub fn slt(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::Slt, a, b)
    }

    pub fn sle(&mut self, a: Expr, b: Expr) -> Expr {
        self.operator2(Op::Sle, a, b)
    }

    // Overflow predicates.

    fn sign_of(&mut self, a: Expr) -> Expr {
        let zero = self.word(self.width(a), 0);
        self.slt(a, zero)
    }

    fn smallest_signed(&mut self, width: u32) -> Expr {
        self.constant(Bits::word(width, 1).shl(u64::from(width) - 1))
    }

    pub fn neg_overflows(&mut self, a: Expr) -> Expr {
        let smallest = self.smallest_signed(self.width(a));
        self.eq(a, smallest)
    }

    pub fn uadd_overflows(&mut self, a: Expr, b: Expr) -> Expr {
        let sum = self.add(a, b);
        self.ult(sum, a)
    }

    pub fn sadd_overflows(&mut self, a: Expr, b: Expr) -> Expr {
        let sum = self.add(a, b);
        let (sa, sb, ss) = (self.sign_of(a), self.sign_of(b), self.sign_of(sum));
        let same = self.eq(sa, sb);
        let turned = self.xor(sa, ss);
        self.and(same, turned)
    }

    pub fn usub_overflows(&mut self, a: Expr, b: Expr) -> Expr {
        self.ult(a, b)
    }

    pub fn ssub_overflows(&mut self, a: Expr, b: Expr) -> Expr {
        let difference = self.sub(a, b);
        let (sa, sb, sd) = (self.sign_of(a), self.sign_of(b), self.sign_of(difference));
        let differ = self.xor(sa, sb);
        let turned = self.xor(sa, sd);
        self.and(differ, turned)
    }

    /// Multiplies in twice the width; divides if that exceeds `MAX_WIDTH`.
    pub fn umul_overflows(&mut self, a: Expr, b: Expr) -> Expr {
        let width = self.width(a);
        if width * 2 <= MAX_WIDTH {
            let (wa, wb) = (self.zext(a, width * 2), self.zext(b, width * 2));
            let product = self.mul(wa, wb);
            let high = self.extract(product, width, width);
            let zero = self.word(width, 0);
            return self.ne(high, zero);
        }
        let ones = self.constant(Bits::ones(width));
        let limit = self.udiv(ones, b);
        let zero = self.word(width, 0);
        let some = self.ne(b, zero);
        let above = self.ult(limit, a);
        self.and(some, above)
    }

    pub fn smul_overflows(&mut self, a: Expr, b: Expr) -> Result<Expr, SortError> {
        let width = self.width(a);
        if width * 2 > MAX_WIDTH {
            let limit = MAX_WIDTH / 2;
            return Err(SortError(format!(
                "expected at most {limit} bits for a signed product, found {width}"
            )));
        }
        let (wa, wb) = (self.sext(a, width * 2), self.sext(b, width * 2));
        let product = self.mul(wa, wb);
        let low = self.extract(product, 0, width);
        let back = self.sext(low, width * 2);
        Ok(self.ne(back, product))
    }

    pub fn sdiv_overflows(&mut self, a: Expr, b: Expr) -> Expr {
        let smallest = self.neg_overflows(a);
        let minus_one = self.constant(Bits::ones(self.width(b)));
        let by_minus_one = self.eq(b, minus_one);
        self.and(smallest, by_minus_one)
    }

    // Shapes.

    pub fn concat(&mut self, high: Expr, low: Expr) -> Expr {
        let width = self.width(high) + self.width(low);
        debug_assert!(width <= MAX_WIDTH);
        self.binary(Op::Concat, Sort::Bits(width), high, low)
    }

    /// Returns bits `low .. low + width`.
    pub fn extract(&mut self, a: Expr, low: u32, width: u32) -> Expr {
        debug_assert!(width >= 1 && low + width <= self.width(a));
        if width == self.width(a) {
            return a;
        }
        self.unary(Op::Extract, Sort::Bits(width), a, low)
    }

    /// Zero-extends `a` to `width` bits.
    pub fn zext(&mut self, a: Expr, width: u32) -> Expr {
        debug_assert!(width >= self.width(a) && width <= MAX_WIDTH);
        if width == self.width(a) {
            return a;
        }
        self.unary(Op::ZExt, Sort::Bits(width), a, 0)
    }

    /// Sign-extends `a` to `width` bits.
    pub fn sext(&mut self, a: Expr, width: u32) -> Expr {
        debug_assert!(width >= self.width(a) && width <= MAX_WIDTH);
        if width == self.width(a) {
            return a;
        }
        self.unary(Op::SExt, Sort::Bits(width), a, 0)
    }

    pub fn repeat(&mut self, a: Expr, count: u32) -> Expr {
        let mut result = a;
        for _ in 1..count {
            result = self.concat(a, result);
        }
        result
    }

    // Arrays.

    pub fn const_array(&mut self, index_width: u32, element: Expr) -> Expr {
        let sort = Sort::Array { index: index_width, element: self.width(element) };
        self.intern1(Op::ConstArray, sort, element)
    }

    /// Returns `base` with elements 0, 1, ... replaced by constants of at most 64 bits. The constants fit in
    /// the element width, and there are no more of them than indices.
    pub fn table_over(&mut self, base: Expr, elements: Arc<[u64]>) -> Expr {
        debug_assert!(self.is_array(base) && self.width(base) <= 64);
        debug_assert!(elements.iter().all(|&e| e <= super::bits::mask(self.width(base))));
        debug_assert!(match self.sort(base) {
            Sort::Array { index, .. } => index >= 64 || elements.len() as u64 <= 1 << index,
            Sort::Bool | Sort::Bits(_) => false,
        });
        if elements.is_empty() {
            return base;
        }
        let data = TableData { elements };
        let number = match self.table_numbers.get(&data) {
            Some(&number) => number,
            None => {
                let number = self.tables.insert(data.clone());
                self.table_numbers.insert(data, number);
                number
            }
        };
        let sort = self.sort(base);
        self.intern(Op::Table, sort, [base.id(), number, 0])
    }

    pub fn select(&mut self, array: Expr, index: Expr) -> Expr {
        self.read(array, index, 1)
    }

    /// Reads `count` adjacent elements starting at `index` as one word, the first one lowest.
    pub fn read(&mut self, array: Expr, index: Expr, count: u32) -> Expr {
        debug_assert!(count >= 1 && self.is_array(array));
        match self.guarded(|g| g.rewrite_read(array, index, count)) {
            Some(e) => e,
            None => {
                let sort = Sort::Bits(self.width(array) * count);
                self.intern2(Op::Read, sort, array, index)
            }
        }
    }

    pub fn store(&mut self, array: Expr, index: Expr, element: Expr) -> Expr {
        debug_assert_eq!(self.width(array), self.width(element));
        match self.guarded(|g| g.rewrite_store(array, index, element)) {
            Some(e) => e,
            None => {
                let sort = self.sort(array);
                self.intern(Op::Store, sort, [array.id(), index.id(), element.id()])
            }
        }
    }
}
