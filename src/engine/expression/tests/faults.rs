//! What is said about texts that cannot be read, and about values that do not exist.

use super::*;

/// The text with the place that is pointed at in brackets, the cause and the remedy.
fn told(text: &str) -> [String; 3] {
    let fault = Expression::parse(text, &Letters).expect_err(text);
    [marked(text, &fault), fault.cause, fault.remedy]
}

fn marked(text: &str, fault: &Refusal) -> String {
    let std::ops::Range { start, end } = fault.span.clone().unwrap();
    format!("{}[{}]{}", &text[..start], &text[start..end], &text[end..])
}

#[test]
fn every_fault_has_its_place_cause_and_remedy() {
    const OPERAND: &str = "write a number, a name or a function";
    const FUNCTIONS: &str = "(known: exp, ln, sqrt, abs, floor, min, max, if)";
    const ARGUMENT: &str = "write the argument, or remove the `,`";
    const SIGNS: &str = "an expression consists of numbers, names, + - * / ^ ( ) , < <= > >= = !=";
    let after = format!("{OPERAND} after it");
    let before = format!("{OPERAND} before it");
    let sqrt = format!("did you mean `sqrt`? {FUNCTIONS}");
    let functions = FUNCTIONS[1..FUNCTIONS.len() - 1].to_owned();
    for (place, cause, remedy) in [
        ("[]", "the expression is empty", "write one, such as `-H`"),
        ("x [$] 2", "unexpected character `$`", SIGNS),
        ("x [\u{7}] 2", "unexpected character \\u{7}", SIGNS),
        ("x [≤] 2", "unexpected character `≤` (U+2264)", "write `<=`"),
        ("[[]x]", "unexpected character `[`", "write `(`"),
        ("2 [!] x", "unexpected character `!`", "write `!=`, or `x = 0` for 'not x'"),
        (
            "[ε] * 2",
            "unexpected character `ε` (U+03B5)",
            "names consist of the letters A to Z, digits and _",
        ),
        ("1 [+]", "an operand is missing after `+`", &after),
        ("1 [*] / 2", "an operand is missing after `*`", &after),
        ("[*] 2", "an operand is missing before `*`", &before),
        ("2 [**] 3", "`**` is not an operator", "write `^` for a power"),
        ("2 [x]", "an operator is missing before `x`", "write `2 * x` for a product"),
        ("(1) [(]2)", "an operator is missing before `(`", "write `) * (` for a product"),
        ("2 * [(]x + 1", "this `(` is not closed", "add a `)`"),
        ("2 * [(]", "this `(` is not closed", "add a `)`"),
        ("(x)[)]", "this `)` closes nothing", "remove it, or add a `(`"),
        ("[)]", "this `)` closes nothing", "remove it"),
        (
            "2 + [()]",
            "there is nothing between these parentheses",
            "write an expression between them, or remove them",
        ),
        ("min(1[,])", "an argument is missing after `,`", ARGUMENT),
        ("min([,] 1)", "an argument is missing before `,`", ARGUMENT),
        (
            "0[,]5 * x",
            "this `,` does not stand between the arguments of a function",
            "remove it; the decimal sign is a point, as in 0.5",
        ),
        ("[1.2.3]", "`1.2.3` is not a number", "numbers look like 1, 0.5, .5 or 1e-3"),
        (
            "[1e999]",
            "`1e999` is too large for a double",
            "the largest is about 1.8e308; or write `inf`",
        ),
        (
            "[1e-999]",
            "`1e-999` is too small for a double",
            "the smallest is about 4.9e-324; or write 0",
        ),
        (
            "2 * [long_nam]",
            "unknown name `long_nam`",
            "did you mean `long_name`? (known: x, y, z, long_name, c, pi, inf)",
        ),
        ("[qqqqq]", "unknown name `qqqqq`", "known: x, y, z, long_name, c, pi, inf"),
        ("[sqr](x)", "unknown function `sqr`", &sqrt),
        ("[qqqqq](x)", "unknown function `qqqqq`", &functions),
        ("[log](x)", "unknown function `log`", "`ln` is the natural logarithm"),
        ("[pow](x, 2)", "unknown function `pow`", "write `a^b`"),
        ("1 + [exp] * 2", "`exp` is a function", "write its arguments: `exp(…)`"),
        ("[x](1)", "`x` is not a function", "write `x * (…)` for a product"),
        ("1 + [exp(x, y)]", "`exp` takes 1 argument, not 2", "write `exp(a)`"),
        ("[min(x)]", "`min` takes 2 or more arguments, not 1", "write `min(a, b)`"),
        ("[if(x, y)]", "`if` takes 3 arguments, not 2", "write `if(condition, a, b)`"),
        (
            "x < y [<] z",
            "comparisons cannot be chained",
            "write `if(a < b, b < c, 0)` for a < b < c",
        ),
    ] {
        let text = unmarked(place);
        assert_eq!(told(&text), [place, cause, remedy], "{text}");
    }
}

/// The text without the brackets of the mark: the first `[`, and the first `]` after what is marked.
fn unmarked(place: &str) -> String {
    let start = place.find('[').unwrap();
    let marked = &place[start + 1..];
    // A bracket that is itself marked is not the end.
    let end = if marked.starts_with('[') { 1 } else { marked.find(']').unwrap() };
    format!("{}{}{}", &place[..start], &marked[..end], &marked[end + 1..])
}

#[test]
fn what_is_too_long_or_too_deep_is_refused() {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    for (open, close) in
        [("(", ")"), ("-", ""), ("2^", ""), ("abs(", ")"), ("min(1,", ")"), ("+", "")]
    {
        assert!(Expression::parse(&nested(open, "x", close, 64), &Letters).is_ok(), "{open}");
        let text = nested(open, "x", close, 65);
        let fault = Expression::parse(&text, &Letters).unwrap_err();
        assert_eq!(fault.cause, "the expression is nested more than 64 levels deep");
        let deepest = open.len() * 64 + open.find(['(', '^']).unwrap_or(0);
        assert_eq!(fault.span, Some(deepest..deepest + 1), "{open}");
        // Twice as deep and more, without an end.
        assert!(Expression::parse(&open.repeat(1600), &Letters).is_err());
    }
    let sum = |terms: usize| vec!["1"; terms].join("+");
    assert_eq!(parsed(&sum(500)).value(&|_| 0.0), 500.0);
    let [_, cause, _] = told(&sum(501));
    assert_eq!(cause, "the expression has more than 1000 parts");
    let [_, cause, _] = told(&format!("min({})", vec!["x"; 600].join(",")));
    assert_eq!(cause, "the expression has more than 1000 parts");
    assert!(Expression::parse(&format!("1{}", " ".repeat(9_999)), &Letters).is_ok());
    let fault = Expression::parse(&format!("é{}", "é".repeat(5_000)), &Letters).unwrap_err();
    assert_eq!(fault.cause, "the expression is longer than 10000 bytes");
    assert_eq!(fault.span, Some(10_000..10_002));
    let [_, cause, _] = told(&"q".repeat(9_000));
    assert!(cause.chars().count() < 70, "{cause}");
}

#[test]
fn the_part_to_blame_is_found() {
    const FINITE: &str = "let the result be finite, or −infinity for weight 0";
    let elsewhere = |condition: &str| {
        format!("give this case a value of its own, with `if({condition}, …, …)`")
    };
    let remedies = ["divisor = 0", "base = 0", "argument < 0"].map(elsewhere);
    let [divisor, base, argument] = remedies.each_ref().map(String::as_str);
    for (place, cause, remedy) in [
        ("2 + [x / y] * 3", "`x / y` divides by zero: `y` is 0", divisor),
        ("x + [(y^2)^-1]", "`(y^2)^-1` divides by zero: it is 0 to the power -1", base),
        (
            "[(-x)^0.7]",
            "`(-x)^0.7` is not a number: it is -3 to the power 0.700000",
            "only whole powers of negative numbers exist; `abs` removes the sign",
        ),
        ("1 - [ln(y - x)]", "`ln(y - x)` is not a number: `y - x` is -3", argument),
        ("[sqrt(-x)] / y", "`sqrt(-x)` is not a number: `-x` is -3", argument),
        ("-[ln(y)]", "`ln(y)` is −infinity: `y` is 0", FINITE),
        (
            "[exp(1000 * x)] - 1",
            "`exp(1000 * x)` is larger than the largest double, 1.8e308",
            "make it smaller; `min` puts a limit to a value",
        ),
        (
            "[y * inf]",
            "`y * inf` is not a number for 0 and infinity",
            "keep infinite values out of it",
        ),
        ("x + [inf]", "`inf` is infinite", FINITE),
        ("x + [z]", "`z` is not a number", "give it a value"),
        // What is cut off by `min`, or not chosen by `if`, is not to blame.
        ("min(exp(1000), 5) + [1 / y]", "`1 / y` divides by zero: `y` is 0", divisor),
        ("if(x > y, [1 / y], sqrt(-1))", "`1 / y` divides by zero: `y` is 0", divisor),
        ("if([x / y], 1, 2)", "`x / y` divides by zero: `y` is 0", divisor),
    ] {
        let text = unmarked(place);
        let fault = parsed(&text).fault(&at(3.0, 0.0, f64::NAN)).expect(&text);
        assert_eq!([marked(&text, &fault), fault.cause, fault.remedy], [place, cause, remedy]);
    }
    for text in ["x / 3", "ln(y)", "-inf", "if(y = 0, 1, 1 / y)", "min(exp(1000), 5)"] {
        assert_eq!(parsed(text).fault(&at(3.0, 0.0, 0.0)), None, "{text}");
    }
}
