//! `nqueens list N`.

use std::io::{self, BufWriter, Write};

use anyhow::Context;
use nqueens::{
    BoardSize, Cancel, FixedQueens, Solution, Solutions, Square, SvgSheet, TextBoard, UnicodeBoard,
    is_solution, one_solution,
};

use super::args::{ListArgs, ListStyle};
use super::exit::{Exit, Failure};
use super::signals::cancel_on_signals;
use super::talk::say;

/// A picture of more boards is only made if it is asked for by `--limit`.
const BOARDS_OF_A_PICTURE: usize = 100;
/// Boards above [`BoardSize::MAX`] have one placement, made without a search.
const LARGEST: u32 = 1_000_000;
/// Signals are looked for once in so many placements.
const PLACEMENTS_UNHEARD: u64 = 256;

#[derive(Debug)]
pub(crate) struct ListOptions {
    what: What,
    style: Style,
    limit: Option<u64>,
}

/// Which placements.
#[derive(Debug)]
enum What {
    All { size: BoardSize, queens: FixedQueens, after: Option<Solution>, fundamental: bool },
    OneOfLarge { n: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Columns,
    Board,
    Unicode,
    Svg,
    Json,
}

impl ListArgs {
    pub(super) fn checked(self) -> Result<ListOptions, Failure> {
        let usage =
            |flag: &str, error: &dyn std::fmt::Display| Failure::Usage(format!("{flag}: {error}"));
        let style = match (self.json, self.style) {
            (true, _) => Style::Json,
            (_, ListStyle::Columns) => Style::Columns,
            (_, ListStyle::Board) => Style::Board,
            (_, ListStyle::Unicode) => Style::Unicode,
            (_, ListStyle::Svg) => Style::Svg,
        };
        let limit = self.limit;
        let large = self.n.parse().ok().filter(|n| (BoardSize::MAX + 1..=LARGEST).contains(n));
        if let Some(n) = large {
            let plain = self.place.is_empty() && self.from_columns.is_none() && !self.fundamental;
            if limit != Some(1) || !plain || !matches!(style, Style::Columns | Style::Json) {
                return Err(Failure::Usage(format!(
                    "boards above {} have one placement only, and no list: give --limit 1 and no \
                     --place, --from-columns, --fundamental or picture, or choose n up to {0}",
                    BoardSize::MAX
                )));
            }
            return Ok(ListOptions { what: What::OneOfLarge { n }, style, limit });
        }
        let size: BoardSize = self.n.parse().map_err(|error| usage("<N>", &error))?;
        let queens = fixed_queens(size, &self.place)?;
        let after = match self.from_columns {
            None => None,
            Some(text) => Some(placement(size, &text).ok_or_else(|| {
                let reason = format!(
                    "'{text}' is not a placement of {size} queens: give {size} columns from 1, \
                     no two queens attacking each other"
                );
                usage("--from-columns", &reason)
            })?),
        };
        let what = What::All { size, queens, after, fundamental: self.fundamental };
        Ok(ListOptions { what, style, limit })
    }
}

/// The queens of `--place`.
pub(super) fn fixed_queens(size: BoardSize, place: &[String]) -> Result<FixedQueens, Failure> {
    let squares: Result<Vec<Square>, _> = place.iter().map(|text| text.parse()).collect();
    let queens = squares.and_then(|squares| FixedQueens::new(size, &squares));
    queens.map_err(|error| Failure::Usage(format!("--place: {error}")))
}

/// A placement from its columns, counted from 1.
fn placement(size: BoardSize, text: &str) -> Option<Solution> {
    let columns = text.split([' ', ',']).filter(|field| !field.is_empty());
    let columns = columns.map(|column| column.parse::<u8>().ok()?.checked_sub(1));
    let columns: Vec<u8> = columns.collect::<Option<_>>()?;
    Solution::new(&columns).filter(|solution| solution.columns().len() == size.rows())
}

pub(super) fn run(options: &ListOptions) -> Result<Exit, Failure> {
    let cancel = cancel_on_signals().context("cannot catch signals").map_err(Failure::Other)?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (size, queens, after, fundamental) = match &options.what {
        What::OneOfLarge { n } => return one_of_large(*n, options.style, &mut out),
        What::All { size, queens, after, fundamental } => (*size, queens, after, *fundamental),
    };
    let mut placements = Solutions::with_queens(size, queens);
    if let Some(solution) = after {
        placements = placements.after(solution);
    }
    let listed = placements.filter_map(|solution| match fundamental {
        false => Some((solution, None)),
        true => solution.class_size().map(|class| (solution, Some(class))),
    });
    let exit = match options.style {
        Style::Svg => write_svg(listed, options.limit, &cancel, &mut out)?,
        style => write_all(listed, style, options.limit, &cancel, &mut out)?,
    };
    out.flush()?;
    if matches!(size.get(), 2 | 3) {
        say(format_args!("there is no placement of {size} queens"));
    }
    Ok(exit)
}

/// Solutions, each with the size of its class if only one of each class is listed.
type Listed = (Solution, Option<usize>);

fn write_all(
    listed: impl Iterator<Item = Listed>,
    style: Style,
    limit: Option<u64>,
    cancel: &Cancel,
    out: &mut impl Write,
) -> Result<Exit, Failure> {
    let mut line = String::new();
    for (number, (solution, class)) in (0u64..).zip(listed) {
        if Some(number) == limit {
            break;
        }
        if number.is_multiple_of(PLACEMENTS_UNHEARD) && cancel.is_cancelled() {
            out.flush()?;
            return Ok(Exit::Stopped);
        }
        let gap = if number == 0 { "" } else { "\n" };
        let caption = || class.map_or(String::new(), |class| format!("class of {class}\n"));
        match style {
            Style::Board => write!(out, "{gap}{}{}", caption(), TextBoard(&solution))?,
            Style::Unicode => write!(out, "{gap}{}{}", caption(), UnicodeBoard(&solution))?,
            Style::Json => write_json(solution.columns().iter().copied(), class, out)?,
            Style::Columns | Style::Svg => {
                line.clear();
                push_columns(&mut line, solution.columns().iter().copied());
                if let Some(class) = class {
                    line.push_str(&format!(" ({class})"));
                }
                line.push('\n');
                out.write_all(line.as_bytes())?;
            }
        }
    }
    Ok(Exit::Done)
}

fn push_columns(line: &mut String, columns: impl Iterator<Item = impl Into<u32>>) {
    let mut digits = [0u8; 10];
    for (row, column) in columns.enumerate() {
        if row > 0 {
            line.push(' ');
        }
        // Formatting by hand: the machinery of `write!` would take most of the time.
        let (mut rest, mut at) = (column.into() + 1, digits.len());
        while rest > 0 {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        line.extend(digits[at..].iter().map(|digit| char::from(*digit)));
    }
}

fn write_json(
    columns: impl Iterator<Item = impl Into<u32>>,
    class: Option<usize>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut list = String::new();
    push_columns(&mut list, columns);
    let list = list.replace(' ', ",");
    match class {
        None => writeln!(out, "{{\"columns\":[{list}]}}"),
        Some(class) => writeln!(out, "{{\"columns\":[{list}],\"class\":{class}}}"),
    }
}

fn write_svg(
    listed: impl Iterator<Item = Listed>,
    limit: Option<u64>,
    cancel: &Cancel,
    out: &mut impl Write,
) -> Result<Exit, Failure> {
    let most =
        limit.map_or(BOARDS_OF_A_PICTURE + 1, |limit| limit.try_into().unwrap_or(usize::MAX));
    let boards: Vec<Solution> = listed
        .map(|(solution, _)| solution)
        .take_while(|_| !cancel.is_cancelled())
        .take(most)
        .collect();
    if cancel.is_cancelled() {
        return Ok(Exit::Stopped);
    }
    if limit.is_none() && boards.len() > BOARDS_OF_A_PICTURE {
        return Err(Failure::Usage(format!(
            "--style: a picture of more than {BOARDS_OF_A_PICTURE} boards needs --limit K"
        )));
    }
    write!(out, "{}", SvgSheet(&boards))?;
    Ok(Exit::Done)
}

fn one_of_large(n: u32, style: Style, out: &mut impl Write) -> Result<Exit, Failure> {
    let columns = one_solution(n).filter(|columns| is_solution(columns));
    let Some(columns) = columns else {
        return Err(Failure::Other(anyhow::anyhow!("the construction fails for n = {n}")));
    };
    if style == Style::Json {
        write_json(columns.into_iter(), None, out)?;
    } else {
        let mut line = String::new();
        push_columns(&mut line, columns.into_iter());
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
