// Uses of the standard library whose output is compared with the native program.
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::fmt;
use std::io::{self, BufRead, Write};
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq, PartialOrd)]
enum Shape {
    Circle { radius: f64 },
    Square(f64),
}

trait Area {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        "a shape".to_string()
    }
}

impl Area for Shape {
    fn area(&self) -> f64 {
        match self {
            Shape::Circle { radius } => std::f64::consts::PI * radius * radius,
            Shape::Square(side) => side * side,
        }
    }
}

struct Matrix<const N: usize>([[i64; N]; N]);

impl<const N: usize> std::ops::Mul for &Matrix<N> {
    type Output = Matrix<N>;
    fn mul(self, other: &Matrix<N>) -> Matrix<N> {
        let mut result = [[0; N]; N];
        for (i, row) in result.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                *cell = (0..N).map(|k| self.0[i][k] * other.0[k][j]).sum();
            }
        }
        Matrix(result)
    }
}

impl<const N: usize> fmt::Display for Matrix<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.0 {
            writeln!(f, "{}", row.iter().map(|n| format!("{n:>4}")).collect::<Vec<_>>().join(" "))?;
        }
        Ok(())
    }
}

struct Noisy(&'static str);

impl Drop for Noisy {
    fn drop(&mut self) {
        println!("dropped {}", self.0);
    }
}

fn parse(text: &str) -> Result<i32, std::num::ParseIntError> {
    Ok(text.trim().parse::<i32>()? * 2)
}

fn main() -> io::Result<()> {
    let shapes: Vec<Box<dyn Area>> = vec![Box::new(Shape::Circle { radius: 1.5 }), Box::new(Shape::Square(2.0))];
    for shape in &shapes {
        println!("{} {:.3}", shape.name(), shape.area());
    }
    println!("{:?} {:#?}", Shape::Square(0.1), Shape::Circle { radius: 1e300 });
    let matrix = Matrix([[1, 2], [3, 4]]);
    print!("{}", &matrix * &matrix);

    let words = "the cat and the dog and the bird";
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in words.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let sorted: BTreeMap<_, _> = counts.iter().collect();
    println!("{sorted:?}");
    let unique: HashSet<char> = words.chars().filter(|c| c.is_alphabetic()).collect();
    println!("{} {:?}", unique.len(), unique.iter().collect::<BTreeSet<_>>());
    let mut heap = BinaryHeap::from(vec![3, 1, 4, 1, 5, 9, 2, 6]);
    let mut queue = VecDeque::new();
    while let Some(top) = heap.pop() {
        if top % 2 == 0 { queue.push_back(top) } else { queue.push_front(top) }
    }
    println!("{queue:?}");

    let shared = Rc::new(Noisy("shared"));
    let other = Rc::clone(&shared);
    println!("{}", Rc::strong_count(&other));
    drop(shared);
    let _last = Noisy("last");
    println!("{:?} {:?} {}", parse(" 21\n"), parse("x"), parse("99999999999").is_err());
    println!("{:?} {:?} {:?}", 250u8.checked_add(10), 250u8.wrapping_add(10), i32::MAX.overflowing_add(1));
    println!("{} {} {} {:e}", 0.1 + 0.2, 1.0e21, f32::MAX, 1234.5);
    println!("{:>8}|{:<8}|{:^8}|{:08.3}|{:+}|{:#x}|{:#b}", "r", "l", "m", 3.14159, 5, 255, 5);
    let text = "Grüße, Jürgen";
    println!("{} {} {:?} {}", text.len(), text.chars().count(), text.find("J"), text.to_uppercase());
    let mut numbers: Vec<i32> = (0..20).map(|n| (n * 7919) % 31).collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    println!("{numbers:?} {:?}", numbers.iter().rev().step_by(3).take(4).collect::<Vec<_>>());
    println!("{:?}", numbers.chunks(6).map(|chunk| chunk.iter().sum::<i32>()).collect::<Vec<_>>());
    let mut lines = 0;
    for line in io::stdin().lock().lines() {
        lines += line?.len();
    }
    io::stdout().write_all(format!("{lines} characters\n").as_bytes())
}
