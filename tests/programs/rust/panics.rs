// One way to panic per command, and what stays without one.
use std::cell::RefCell;
use std::collections::HashMap;

fn sum(values: &[i32]) -> i32 {
    let mut total = 0;
    for value in values {
        total += value; // overflow
    }
    total
}

fn main() {
    let values: [i32; 2] = partita::symbolic("values");
    let flag: bool = partita::symbolic("flag");
    match partita::symbolic::<u8>("command") {
        0 => assert!(sum(&values) != 5 || !flag, "five with {flag}"), // assert
        1 => {
            let table = vec![1, 2, 3];
            let index: usize = partita::symbolic("index");
            println!("{}", table[index]); // bounds
        }
        2 => {
            let names = HashMap::from([(1u8, "one"), (7, "seven")]);
            let key: u8 = partita::symbolic("key");
            println!("{}", names.get(&key).unwrap()); // none
        }
        3 => {
            let text = String::from_utf8(partita::vector(2, "text")).unwrap(); // text
            println!("{}", text.chars().count());
        }
        4 => {
            let digit: char = partita::symbolic("digit");
            partita::assume(digit.is_ascii_digit());
            if digit.to_digit(10).unwrap() == 7 {
                panic!("seven"); // explicit
            }
        }
        5 => {
            let cell = RefCell::new(1);
            let _first = cell.borrow_mut();
            println!("{}", cell.borrow()); // borrowed
        }
        6 => println!("{}", 100 / partita::symbolic::<u32>("divisor")), // zero
        7 => assert_eq!(values[0], 3), // equal
        8 => std::process::exit(3),
        9 => std::process::abort(), // aborts
        _ => {}
    }
}
