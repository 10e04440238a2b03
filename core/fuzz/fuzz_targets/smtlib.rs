//! Arbitrary bytes as an SMT-LIB script, without layers: no panic, no hang, and printed assertions parse again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use partita_core::script::{Limits, Session, Step};
use partita_core::solve::Solver;

fuzz_target!(|data: &[u8]| {
    let mut session = Session::new(Solver::new(Vec::new()), Limits::default());
    // In two pieces, split at any byte.
    let (first, second) = data.split_at(data.len() / 3);
    session.feed(first);
    session.feed(second);
    session.finish();
    if session.has_exited() {
        return;
    }
    session.feed(b"(set-option :print-success false)");
    let before = session.errors();
    for assertions in session.feed(b"\n(get-assertions)") {
        let terms = &assertions[1..assertions.len() - 1];
        session.add_text(format!("(check-sat-assuming ({terms}))").as_bytes());
        while let Step::Done(answer) = session.step() {
            assert_eq!(session.errors(), before, "{answer:?} to {terms}");
        }
    }
});
