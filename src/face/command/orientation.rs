//! What `dpbi` alone says: the first things that people do with it.

pub const TEXT: &str = "\
dpbi releases the posterior of categorical data under differential privacy, and
computes exactly how much accuracy each way of doing so costs.

Run an experiment, and open results/beta_balanced/box.png
  dpbi run beta_balanced

Find the mechanism to take for your number of records, categories and ε
  dpbi choose --prior 1,1 --n 100 --epsilon 1

Release your own data, a column of a CSV file
  dpbi release --data FILE --column NAME --categories no,yes \\
    --prior 1,1 --epsilon 1

Reproduce the papers: every figure and claim, in results/report.html
  dpbi reproduce

Check this installation: every sampler against its exact law
  dpbi selftest

Read on: dpbi --help (all commands), dpbi help COMMAND (with examples),
dpbi list (bundled experiments), and the guide in docs/
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits_on_a_small_terminal() {
        assert!(TEXT.lines().count() <= 25);
        assert!(TEXT.lines().all(|line| line.chars().count() <= 80));
    }
}
