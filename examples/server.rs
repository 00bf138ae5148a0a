//! Counts a board, and answers each HTTP request with how far it is: `curl localhost:8080`.
//!
//! ```text
//! cargo run --release --example server -- 23 8080
//! ```

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use nqueens::{BoardSize, Count, Observer, Progress};

/// The latest news of a count.
#[derive(Default)]
struct News(Mutex<String>);

impl Observer for News {
    fn progress(&self, progress: &Progress<'_>) {
        let mut text = format!("{:.1} %", 100.0 * progress.fraction());
        if let Some(seconds) = progress.time_left().and_then(|left| left.wall_seconds) {
            text += &format!(", {seconds:.0} s left");
        }
        *self.0.lock().expect("no thread panics") = text;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let size: BoardSize = args.next().unwrap_or_else(|| "20".to_owned()).parse()?;
    let port: u16 = args.next().unwrap_or_else(|| "8080".to_owned()).parse()?;

    let news = Arc::new(News::default());
    let count = Count::new(size).observer(Arc::clone(&news));
    let listener = TcpListener::bind(("localhost", port))?;
    println!("http://{}", listener.local_addr()?);
    thread::spawn(move || serve(&listener, &news));

    let outcome = count.run()?;
    println!("Q({size}) = {:?}", outcome.total);
    Ok(())
}

fn serve(listener: &TcpListener, news: &News) -> io::Result<()> {
    for stream in listener.incoming() {
        let text = news.0.lock().expect("no thread panics").clone();
        write!(stream?, "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len())?;
    }
    Ok(())
}
