//! Integer arithmetic: binary operations, overflow flags, saturation.
//!
//! Numbers of at most 64 bits are computed here; symbolic or wider values become expressions. Division by
//! zero is an error wherever it is possible; an over-shift has SMT-LIB's meaning here (all bits shifted out), and is
//! poison where LLVM says so (`checks.rs`).
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::bits::{mask, signed};
use crate::expr::{Bits, Expr, Graph};
use crate::program::{BinOp, OverflowOp};

const DIVISION_BY_ZERO: &str = "division or remainder by zero";
const DIVISION_OVERFLOW: &str = "signed division overflows: the least value divided by -1";

/// Result on numbers; `None` if the operation is an error.
fn numbers(op: BinOp, width: u32, x: u64, y: u64) -> Option<u64> {
    let (sx, sy) = (signed(width, x), signed(width, y));
    let (least, most) = (-1i128 << (width - 1), (1i128 << (width - 1)) - 1);
    let clamp = |v: i128| v.clamp(least, most) as u64;
    let over = y >= u64::from(width);
    let result = match op {
        BinOp::Add => x.wrapping_add(y),
        BinOp::Sub => x.wrapping_sub(y),
        BinOp::Mul => x.wrapping_mul(y),
        BinOp::UDiv => x.checked_div(y)?,
        BinOp::URem => x.checked_rem(y)?,
        BinOp::SDiv | BinOp::SRem if y == 0 || (i128::from(sx) == least && sy == -1) => return None,
        BinOp::SDiv => (sx / sy) as u64,
        BinOp::SRem => (sx % sy) as u64,
        BinOp::Shl => {
            if over {
                0
            } else {
                x << y
            }
        }
        BinOp::LShr => {
            if over {
                0
            } else {
                x >> y
            }
        }
        BinOp::AShr => (sx >> y.min(63)) as u64,
        BinOp::And => x & y,
        BinOp::Or => x | y,
        BinOp::Xor => x ^ y,
        BinOp::UMin => x.min(y),
        BinOp::UMax => x.max(y),
        BinOp::SMin => sx.min(sy) as u64,
        BinOp::SMax => sx.max(sy) as u64,
        BinOp::UAddSat => (u128::from(x) + u128::from(y)).min(mask(width).into()) as u64,
        BinOp::SAddSat => clamp(i128::from(sx) + i128::from(sy)),
        BinOp::USubSat => x.saturating_sub(y),
        BinOp::SSubSat => clamp(i128::from(sx) - i128::from(sy)),
        BinOp::UShlSat if over => {
            if x == 0 {
                0
            } else {
                mask(width)
            }
        }
        BinOp::UShlSat => (u128::from(x) << y).min(mask(width).into()) as u64,
        BinOp::SShlSat if over => clamp(i128::from(sx.signum()) << 64),
        BinOp::SShlSat => clamp(i128::from(sx) << y),
    };
    Some(result & mask(width))
}

impl Machine {
    pub(super) fn binary(
        &mut self,
        state: &mut State,
        op: BinOp,
        width: u32,
        a: Value,
        b: Value,
    ) -> Result<Value, Outcome> {
        if !a.symbolic && !b.symbolic && width <= 64 {
            return match numbers(op, width, a.word, b.word) {
                Some(word) => Ok(Value::number(word)),
                None if b.word == 0 => Err(Outcome::bug(Class::DivisionByZero, DIVISION_BY_ZERO)),
                None => Err(Outcome::bug(Class::Overflow, DIVISION_OVERFLOW)),
            };
        }
        let graph = self.graph();
        match op {
            BinOp::And | BinOp::Or | BinOp::Xor => {
                let (x, y) = (a.to_expr(graph, width), b.to_expr(graph, width));
                let e = match op {
                    BinOp::And => graph.and(x, y),
                    BinOp::Or => graph.or(x, y),
                    _ => graph.xor(x, y),
                };
                return Ok(Value::of(graph, e));
            }
            BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem => {
                let (x, y) = (a.to_bits(graph, width), b.to_bits(graph, width));
                let zero = graph.constant(Bits::zero(width));
                let fine = graph.ne(y, zero);
                self.decider.require(state, fine, Outcome::bug(Class::DivisionByZero, DIVISION_BY_ZERO))?;
                if matches!(op, BinOp::SDiv | BinOp::SRem) {
                    let overflows = self.graph().sdiv_overflows(x, y);
                    let fine = self.graph().not(overflows);
                    self.decider.require(state, fine, Outcome::bug(Class::Overflow, DIVISION_OVERFLOW))?;
                }
            }
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl | BinOp::LShr | BinOp::AShr => {}
            BinOp::UMin | BinOp::UMax | BinOp::SMin | BinOp::SMax => {}
            BinOp::UAddSat
            | BinOp::SAddSat
            | BinOp::USubSat
            | BinOp::SSubSat
            | BinOp::UShlSat
            | BinOp::SShlSat => {}
        }
        let graph = self.graph();
        let (x, y) = (a.to_bits(graph, width), b.to_bits(graph, width));
        let e = expression(graph, op, width, x, y);
        Ok(Value::of_bits(graph, e))
    }

    /// Wrapped result, and whether it differs from the exact one.
    pub(super) fn overflowing(
        &mut self,
        op: OverflowOp,
        width: u32,
        a: Value,
        b: Value,
    ) -> Result<(Value, Value), Outcome> {
        let graph = self.graph();
        if !a.symbolic && !b.symbolic && width <= 64 {
            let (x, y) = (a.word, b.word);
            let (ux, uy) = (i128::from(x), i128::from(y));
            let (sx, sy) = (i128::from(signed(width, x)), i128::from(signed(width, y)));
            let (exact, is_signed) = match op {
                OverflowOp::UAdd => (ux + uy, false),
                OverflowOp::SAdd => (sx + sy, true),
                OverflowOp::USub => (ux - uy, false),
                OverflowOp::SSub => (sx - sy, true),
                // The product may not fit 127 bits; what matters is whether it fits 64.
                OverflowOp::UMul => {
                    (i128::try_from(u128::from(x) * u128::from(y)).unwrap_or(i128::MAX), false)
                }
                OverflowOp::SMul => (sx * sy, true),
            };
            let word = match op {
                OverflowOp::UMul => x.wrapping_mul(y) & mask(width),
                OverflowOp::UAdd
                | OverflowOp::SAdd
                | OverflowOp::USub
                | OverflowOp::SSub
                | OverflowOp::SMul => exact as u64 & mask(width),
            };
            let back = if is_signed { i128::from(signed(width, word)) } else { i128::from(word) };
            return Ok((Value::number(word), Value::truth(back != exact)));
        }
        let (x, y) = (a.to_bits(graph, width), b.to_bits(graph, width));
        let (e, flag) = match op {
            OverflowOp::UAdd => (graph.add(x, y), graph.uadd_overflows(x, y)),
            OverflowOp::SAdd => (graph.add(x, y), graph.sadd_overflows(x, y)),
            OverflowOp::USub => (graph.sub(x, y), graph.usub_overflows(x, y)),
            OverflowOp::SSub => (graph.sub(x, y), graph.ssub_overflows(x, y)),
            OverflowOp::UMul => (graph.mul(x, y), graph.umul_overflows(x, y)),
            OverflowOp::SMul => {
                let flag = graph.smul_overflows(x, y).map_err(|e| Outcome::unsupported(e.to_string()))?;
                (graph.mul(x, y), flag)
            }
        };
        Ok((Value::of_bits(graph, e), Value::of(graph, flag)))
    }
}

/// Result as an expression over bit-vectors.
fn expression(graph: &mut Graph, op: BinOp, width: u32, x: Expr, y: Expr) -> Expr {
    match op {
        BinOp::Add => graph.add(x, y),
        BinOp::Sub => graph.sub(x, y),
        BinOp::Mul => graph.mul(x, y),
        BinOp::UDiv => graph.udiv(x, y),
        BinOp::URem => graph.urem(x, y),
        BinOp::SDiv => graph.sdiv(x, y),
        BinOp::SRem => graph.srem(x, y),
        BinOp::Shl => graph.shl(x, y),
        BinOp::LShr => graph.lshr(x, y),
        BinOp::AShr => graph.ashr(x, y),
        BinOp::And => graph.and(x, y),
        BinOp::Or => graph.or(x, y),
        BinOp::Xor => graph.xor(x, y),
        BinOp::UMin | BinOp::UMax | BinOp::SMin | BinOp::SMax => {
            let first = match op {
                BinOp::UMin => graph.ult(x, y),
                BinOp::UMax => graph.ult(y, x),
                BinOp::SMin => graph.slt(x, y),
                _ => graph.slt(y, x),
            };
            graph.ite(first, x, y)
        }
        BinOp::UAddSat => {
            let (sum, over) = (graph.add(x, y), graph.uadd_overflows(x, y));
            let most = graph.constant(Bits::ones(width));
            graph.ite(over, most, sum)
        }
        BinOp::USubSat => {
            let (difference, over) = (graph.sub(x, y), graph.usub_overflows(x, y));
            let zero = graph.constant(Bits::zero(width));
            graph.ite(over, zero, difference)
        }
        BinOp::SAddSat => {
            let (sum, over) = (graph.add(x, y), graph.sadd_overflows(x, y));
            let limit = towards_sign(graph, width, x);
            graph.ite(over, limit, sum)
        }
        BinOp::SSubSat => {
            let (difference, over) = (graph.sub(x, y), graph.ssub_overflows(x, y));
            let limit = towards_sign(graph, width, x);
            graph.ite(over, limit, difference)
        }
        BinOp::UShlSat => {
            let shifted = graph.shl(x, y);
            let back = graph.lshr(shifted, y);
            let fits = graph.eq(back, x);
            let most = graph.constant(Bits::ones(width));
            graph.ite(fits, shifted, most)
        }
        BinOp::SShlSat => {
            let shifted = graph.shl(x, y);
            let back = graph.ashr(shifted, y);
            let fits = graph.eq(back, x);
            let limit = towards_sign(graph, width, x);
            graph.ite(fits, shifted, limit)
        }
    }
}

/// Least value where `x` is negative, greatest elsewhere.
fn towards_sign(graph: &mut Graph, width: u32, x: Expr) -> Expr {
    let zero = graph.constant(Bits::zero(width));
    let negative = graph.slt(x, zero);
    let most = Bits::ones(width).lshr(1);
    let least = graph.constant(most.not());
    let most = graph.constant(most);
    graph.ite(negative, least, most)
}
