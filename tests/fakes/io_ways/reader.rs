// Reads MB of a file, then computes for SECONDS: reader WAY FILE MB SECONDS.
use std::{env, fs::File, io::Read, time::Instant};

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let (count, seconds): (usize, f64) = (arguments[3].parse().unwrap(), arguments[4].parse().unwrap());
    let (mut file, mut piece) = (File::open(&arguments[2]).unwrap(), vec![0u8; 1 << 20]);
    for _ in 0..count {
        file.read_exact(&mut piece).unwrap();
    }
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {}
}
