//! Weights by number, for drawing: a complete binary tree of sums. Setting and drawing take logarithmic time.

#[derive(Default)]
pub struct SumTree {
    /// `sums[1]` is the total, `sums[i]` the sum of `sums[2 i]` and `sums[2 i + 1]`; the second half are the
    /// weights.
    sums: Vec<u64>,
}

impl SumTree {
    fn capacity(&self) -> usize {
        self.sums.len() / 2
    }

    pub fn total(&self) -> u64 {
        self.sums.get(1).copied().unwrap_or(0)
    }

    pub fn get(&self, number: u32) -> u64 {
        let at = self.capacity() + number as usize;
        self.sums.get(at).copied().unwrap_or(0)
    }

    pub fn set(&mut self, number: u32, weight: u64) {
        if number as usize >= self.capacity() {
            self.grow((number as usize + 1).next_power_of_two().max(16));
        }
        let mut at = self.capacity() + number as usize;
        let before = self.sums[at];
        while at > 0 {
            self.sums[at] = self.sums[at] - before + weight;
            at /= 2;
        }
    }

    fn grow(&mut self, capacity: usize) {
        let mut sums = vec![0; 2 * capacity];
        sums[capacity..capacity + self.capacity()].copy_from_slice(&self.sums[self.capacity()..]);
        for at in (1..capacity).rev() {
            sums[at] = sums[2 * at] + sums[2 * at + 1];
        }
        self.sums = sums;
    }

    /// Number whose share of the total contains `point`, which is below the total.
    pub fn find(&self, mut point: u64) -> u32 {
        let mut at = 1;
        while at < self.capacity() {
            at *= 2;
            if point >= self.sums[at] {
                point -= self.sums[at];
                at += 1;
            }
        }
        (at - self.capacity()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_found_as_in_a_list() {
        let mut sums = SumTree::default();
        let mut weights = vec![0u64; 100];
        for step in 0..1000u64 {
            let number = (step * 37 % 100) as usize;
            weights[number] = step * step % 11;
            sums.set(number as u32, weights[number]);
            assert_eq!(sums.total(), weights.iter().sum::<u64>());
            assert_eq!(sums.get(number as u32), weights[number]);
        }
        let mut point = 0;
        for (number, &weight) in weights.iter().enumerate() {
            for _ in 0..weight {
                assert_eq!(sums.find(point), number as u32);
                point += 1;
            }
        }
    }
}
