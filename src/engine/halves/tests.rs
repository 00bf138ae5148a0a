//! Tests of the engine against plain programs that share no code with it.

mod counts;
mod kernels;
