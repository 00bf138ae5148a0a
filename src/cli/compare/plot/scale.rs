//! Where values stand on an axis, and which of them are marked.

use super::panel::{Axis, FONT_SIZE, text_width};

/// Values between two ends, on the way from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    pub(super) fn linear(from: f64, to: f64) -> Self {
        Self { from, to, logarithmic: false }
    }

    pub(super) fn logarithmic(from: f64, to: f64) -> Self {
        Self { from: from.ln(), to: to.ln(), logarithmic: true }
    }

    /// 0 for one end, 1 for the other.
    pub(super) fn share(self, value: f64) -> f64 {
        let value = if self.logarithmic { value.ln() } else { value };
        (value - self.from) / (self.to - self.from)
    }
}

/// A marked value, with its label.
pub(super) type Tick = (f64, String);

/// The number `digit` x 10^`exponent`.
#[derive(Clone, Copy, Debug)]
struct Step {
    digit: f64,
    exponent: i32,
}

impl Step {
    fn value(self) -> f64 {
        self.digit * 10f64.powi(self.exponent)
    }

    /// Without an exponent, and with no more digits than it has: 0.002, 50.
    fn tick(self) -> Tick {
        let digits = usize::try_from(-self.exponent).unwrap_or(0);
        (self.value(), format!("{:.digits$}", self.value()))
    }
}

/// From a nanosecond to longer than the universe has been there: no board takes longer.
const EXPONENTS: std::ops::RangeInclusive<i32> = -9..=18;
/// Above so many decades only powers of ten are labelled.
const DECADES_WITH_STEPS: f64 = 2.5;

fn steps(digits: &[f64]) -> Vec<Step> {
    let all = EXPONENTS
        .flat_map(|exponent| digits.iter().map(move |digit| Step { digit: *digit, exponent }));
    all.collect()
}

/// A logarithmic axis of seconds that ends on numbers 1, 2 or 5 x 10^k with some room, and is
/// marked at these or, if it is long, at powers of ten.
pub(super) fn time_axis(low: f64, high: f64) -> Axis {
    let ends = steps(&[1.0, 2.0, 5.0]);
    let from = ends.iter().rev().map(|step| step.value()).find(|value| *value <= low / 1.2);
    let to = ends.iter().map(|step| step.value()).find(|value| *value >= high * 1.2);
    let (from, to) = (from.unwrap_or(low / 2.0), to.unwrap_or(high * 2.0));
    // Powers of ten are not exact.
    let within = |value: f64| (from * 0.999..=to * 1.001).contains(&value);
    let long = (to / from).log10() > DECADES_WITH_STEPS;
    let labelled = if long { steps(&[1.0]) } else { ends };
    let ticks = labelled.into_iter().filter(|step| within(step.value())).map(Step::tick).collect();
    let all_digits = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    let minor = steps(&all_digits).into_iter().map(Step::value).filter(|value| within(*value));
    Axis {
        title: String::new(),
        scale: Scale::logarithmic(from, to),
        ticks,
        minor: minor.collect(),
    }
}

/// A logarithmic axis that is marked at powers of two.
pub(super) fn doubling_axis(low: f64, high: f64) -> Axis {
    let ticks = (-12..=12)
        .map(|exponent| 2f64.powi(exponent))
        .filter(|power| (low / 1.2..=high * 1.2).contains(power))
        .map(|power| (power, power.to_string()));
    Axis {
        title: String::new(),
        scale: Scale::logarithmic(low / 1.2, high * 1.2),
        ticks: ticks.collect(),
        minor: Vec::new(),
    }
}

/// The whole numbers between two, so many apart (1, 2, 5 or 10) that their labels have room.
pub(super) fn integers(first: f64, last: f64, width: f64) -> Vec<Tick> {
    let room = width / (last - first + 1.0);
    let apart = [1.0, 2.0, 5.0].into_iter().find(|apart| apart * room >= 2.0 * FONT_SIZE);
    let apart = apart.unwrap_or(10.0);
    let multiples =
        std::iter::successors(Some((first / apart).ceil() * apart), |tick| Some(tick + apart));
    multiples.take_while(|tick| *tick <= last).map(|tick| (tick, tick.to_string())).collect()
}

/// These numbers, ascending, on a logarithmic axis, without those whose labels have no room.
pub(super) fn numbers_apart(numbers: &[f64], width: f64) -> Vec<Tick> {
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return Vec::new() };
    let scale = Scale::logarithmic(first / 1.15, last * 1.15);
    let mut ticks: Vec<Tick> = Vec::new();
    for number in numbers {
        let label = number.to_string();
        let room = ticks.last().is_none_or(|(before, text)| {
            let between = (scale.share(*number) - scale.share(*before)) * width;
            between >= f64::midpoint(text_width(text), text_width(&label)) + FONT_SIZE / 2.0
        });
        if room {
            ticks.push((*number, label));
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn values_stand_between_the_ends() {
        let scale = Scale::logarithmic(0.01, 100.0);
        for (value, share) in [(0.01, 0.0), (0.1, 0.25), (1.0, 0.5), (100.0, 1.0)] {
            assert!((scale.share(value) - share).abs() < 1e-12, "{value}");
        }
        assert_eq!(Scale::linear(10.0, 20.0).share(15.0), 0.5);
    }

    #[test]
    fn times_are_marked_at_1_2_5_or_at_powers_of_ten() {
        assert_eq!(labels(&time_axis(0.03, 0.3).ticks), ["0.02", "0.05", "0.1", "0.2", "0.5"]);
        assert_eq!(labels(&time_axis(1.0, 1.0).ticks), ["0.5", "1", "2"]);
        let long = time_axis(0.000_02, 30.0);
        let decades = ["0.0001", "0.001", "0.01", "0.1", "1", "10"];
        assert_eq!(labels(&long.ticks)[1..], decades);
        assert!(long.minor.len() > 40 && long.minor.len() < 70);
        assert!(long.scale.share(0.000_02) > 0.0 && long.scale.share(30.0) < 1.0);
    }

    #[test]
    fn boards_are_marked_as_there_is_room() {
        assert_eq!(labels(&integers(8.0, 12.0, 400.0)), ["8", "9", "10", "11", "12"]);
        assert_eq!(labels(&integers(9.0, 30.0, 400.0)).len(), 11);
        assert_eq!(labels(&integers(16.0, 16.0, 400.0)), ["16"]);
        assert_eq!(labels(&integers(0.0, 32.0, 100.0)), ["0", "10", "20", "30"]);
    }

    #[test]
    fn numbers_of_threads_keep_apart() {
        let numbers: Vec<f64> = (1..=32).map(f64::from).collect();
        let ticks = numbers_apart(&numbers, 300.0);
        assert_eq!(labels(&ticks)[..4], ["1", "2", "3", "4"]);
        assert!(ticks.len() < 14, "{ticks:?}");
        assert_eq!(labels(&doubling_axis(0.9, 7.0).ticks), ["1", "2", "4", "8"]);
    }
}
