// A ledger of accounts with three bugs: an overflow, an index outside of a slice, and an `unwrap` of nothing.
// `partita run examples/ledger.rs` finds them, and `partita replay` shows them natively.
use std::collections::HashMap;

struct Ledger {
    balances: HashMap<u8, i16>,
    history: Vec<i16>,
}

impl Ledger {
    fn deposit(&mut self, account: u8, amount: i16) {
        let balance = self.balances.entry(account).or_insert(0);
        *balance += amount; // overflows
        self.history.push(amount);
    }

    fn balance(&self, account: u8) -> i16 {
        *self.balances.get(&account).unwrap() // no such account
    }

    // The first `count` amounts.
    fn first(&self, count: usize) -> &[i16] {
        &self.history[..count] // more than there are
    }
}

fn main() {
    let mut ledger = Ledger { balances: HashMap::new(), history: Vec::new() };
    ledger.deposit(1, 20_000);
    ledger.deposit(2, 300);

    match partita::symbolic::<u8>("command") {
        b'd' => ledger.deposit(1, partita::symbolic("amount")),
        b'b' => {
            let account = partita::symbolic("account");
            partita::assume(account < 4);
            println!("{}", ledger.balance(account));
        }
        b'f' => {
            let count: u8 = partita::symbolic("count");
            println!("{} amounts", ledger.first(count.into()).len());
        }
        _ => {}
    }
}
