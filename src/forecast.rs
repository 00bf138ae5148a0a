//! The time and the result of a count, estimated from a sample of it.
//!
//! Units differ in size, but neighbouring units are alike, so what is finished of a plan forms clusters of
//! neighbouring units. The sample estimates the sum Y of a value (seconds, or solutions) over all clusters,
//! given the sum X of their *sizes*. A cluster's size is its number of units or, if the total is published,
//! its number of solutions, which follows the time much more closely. From k clusters with sizes x_i and
//! values y_i
//!
//! ```text
//! Y = X m, m = sum y_i / sum x_i       s² = sum (y_i - m x_i)² / (k - 1)
//! standard error of Y: s sqrt((K - k) K / k), with K = k X / sum x_i clusters in all
//! ```
//!
//! and twice of it is an interval of 95 %. That needs at least twenty clusters, and more if their sizes differ:
//! from fewer the standard error is infinite.
//!
//! This is the ratio estimator of survey sampling, with its correction for finite populations
//! (W. G. Cochran, *Sampling Techniques*, chapter 6). [`TimeLeft`] uses it for the remaining time of a
//! running count, whose finished units are the sample; an [`Estimate`](crate::Estimate) is what it says of a
//! count that is stopped after a while.

mod clusters;
mod cores;
mod cost;
mod ratio;
mod time_left;

pub(crate) use clusters::{Clusters, Rest};
pub(crate) use cores::Cores;
pub use cost::core_hours;
pub use ratio::Approximate;
pub use time_left::TimeLeft;
pub(crate) use time_left::seconds_of;
