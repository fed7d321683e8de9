//! `dpbi posterior`: what released counts tell.

mod draws;
mod elsewhere;
pub mod figure;
mod question;
mod read;
pub mod text;

use std::path::PathBuf;

use super::{paths::Paths, print, threads};
use crate::cli::Posterior;
use crate::failure::Failure;
use engine::parallel;
use figure::FigureFile;
use service::release::Evidence;
use service::release::document::PosteriorDocument;
use service::release::sentences::{Told, sentences};
use system::diagnostic::Diagnostic;

pub fn execute(args: &Posterior) -> Result<(), Failure> {
    let _whole = parallel::of_whole(1.0);
    threads(&args.threads)?;
    let figure = args.figure.as_deref().map(FigureFile::new).transpose()?;
    Paths::default()
        .read("a release that is read", args.files.iter().map(PathBuf::as_path))
        .read("the data", args.data.as_deref())
        .read("the ledger", args.ledger.as_deref())
        .written("figure", "where a figure goes", args.figure.as_deref())
        .written("draws", "where draws go", args.draws.iter().filter_map(|one| one.file.as_deref()))
        .check()?;
    let ledger = args.ledger.as_deref();
    let evidence = match args.files.is_empty() {
        true => Evidence::Elsewhere(Box::new(elsewhere::read(args)?)),
        false => Evidence::Own(read::releases(&args.files, ledger)?),
    };
    let question = question::check(&args.question, evidence.request())?;
    let posterior = evidence.posterior().map_err(|cause| {
        let cause = format!("the posterior is not computed: {cause}");
        Diagnostic::new(cause).help(match evidence {
            Evidence::Own(_) => "release fewer categories, or with geometric, tight or lattice",
            Evidence::Elsewhere(_) => {
                "check the numbers and the noise; if the number of records is public, --n says it"
            }
        })
    })?;
    if let Some(file) = figure {
        file.write(&figure::draw(&evidence, &posterior, &question))?;
    }
    if let Some(asked) = &args.draws {
        draws::give(&evidence, &posterior, asked)?;
        if asked.file.is_none() {
            return Ok(());
        }
    }
    let findings = posterior.findings(&question);
    let told = if args.sentences == "all" { Told::All } else { Told::First };
    let paragraph = || sentences(&evidence, &question, &findings, told).join(" ");
    if args.text {
        return print(&(paragraph() + "\n"));
    }
    let left_out = posterior.left_out;
    args.answer.give(
        || text::table(&findings, &question),
        || {
            let about = (ledger.is_some(), told);
            PosteriorDocument::new(&evidence, &question, findings.clone(), left_out, about)
        },
        || {
            text::answer(&evidence, &question, &findings, left_out)
                + &format!("\n  To be published:\n  {}\n", paragraph())
                + &text::whose_word(&evidence, ledger)
        },
    )
}
