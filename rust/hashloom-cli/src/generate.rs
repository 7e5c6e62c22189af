// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom generate`: manual pages and shell completions from the definition of the command line.

mod page;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command, Subcommand};
use clap_complete::Shell;
use hashloom_frame::output;
use hashloom_frame::text::{display, failed, reason};
use hashloom_signature::command::Signer;

use crate::solaris;

/// Write manual pages or shell completions.
///
/// `make install` does this for you: it puts the pages into share/man/man1, and the completions where bash, zsh and
/// fish look for them.
#[derive(Debug, Args)]
#[command(after_long_help = HELP, arg_required_else_help = true)]
pub struct Generate {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum What {
    /// Write a manual page for each command into DIR, which is created if missing
    Man {
        /// The folder; existing pages are replaced
        #[arg(value_name = "DIR")]
        folder: PathBuf,

        /// Write other pages instead: those of the programs that hashloom can be called as, such as digest(1)
        #[arg(long)]
        stand_ins: bool,
    },
    /// Print the completions for a shell
    Completions {
        /// The shell
        #[arg(value_name = "SHELL", value_enum)]
        shell: Shell,
    },
    /// Print a signature, as tools/sign.sh does for the checksums of a release
    #[command(hide = true)]
    Signature {
        /// The file that is signed
        #[arg(value_name = "FILE")]
        file: PathBuf,

        /// The secret key
        #[arg(long, value_name = "KEY")]
        sign: PathBuf,
    },
}

const HELP: &str = "\
Exit status:
  0  written
  2  wrong usage, or a file cannot be written

Examples:
  hashloom generate man ~/.local/share/man/man1
  hashloom generate completions bash > /etc/bash_completion.d/hashloom
  hashloom generate completions zsh > ~/.zfunc/_hashloom
  cd ~/.config/fish/completions
  hashloom generate completions fish > hashloom.fish
  hashloom generate completions powershell >> $PROFILE";

/// Writes what `program` is asked for, the command line of hashloom. Returns the exit status.
pub fn run(arguments: &Generate, mut program: Command) -> Result<u8, String> {
    match &arguments.what {
        What::Man { folder, stand_ins } => {
            let programs = if *stand_ins { stand_in_programs() } else { vec![program] };
            fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
            for mut program in programs {
                // Fills in what commands inherit from the commands above them.
                program.build();
                write_pages(&program, &[], folder)?;
            }
        }
        What::Completions { shell } => {
            // `hashloom sha256sum` is a program too.
            let sums = hashloom_standins::names().filter(|name| name.ends_with("sum"));
            program = program.subcommands(sums.map(|name| hashloom_standins::command(name, true)));
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut program, "hashloom", &mut script);
            let script = String::from_utf8(script).map_err(|error| error.to_string())?;
            output::print(|out| out.write_all(adapted(script, *shell, &program).as_bytes()))?;
        }
        What::Signature { file, sign } => {
            let signer = Signer::open(sign)?;
            let signature = signer.sign_with(file, "", fs::File::open(file).map_err(|error| failed(file, &error))?)?;
            output::print(|out| out.write_all(signature.as_bytes()))?;
        }
    }
    Ok(0)
}

/// Adds what clap_complete leaves out: files as the first word, and names of algorithms behind a comma.
fn adapted(mut script: String, shell: Shell, program: &Command) -> String {
    match shell {
        Shell::Bash => {
            offer_files(&mut script, program, "hashloom");
            let own = "COMPREPLY=( $(compgen -W \"${opts}\" -- \"${cur}\") )";
            let (before, whole) = script.split_at(script.find(" hashloom)\n").unwrap_or(0));
            let files = "local IFS=$'\\n'; COMPREPLY+=( $(compgen -f -- \"${cur}\") ); compopt -o filenames";
            // Behind the first word bash offers files itself.
            let mut parts = whole.splitn(3, own);
            let mut part = || parts.next().unwrap_or_default();
            script = format!("{before}{}{own}; {files}{}COMPREPLY=(){}", part(), part(), part());
            edit(&mut script, "compgen -W \"sha1 ", "\" -- \"${cur}\"", |names| {
                format!("compgen -P \"${{cur%\"${{cur##*,}}\"}}\" -W \"sha1 {names}\" -- \"${{cur##*,}}\"")
            });
        }
        Shell::Zsh => {
            // Behind two colons zsh sees the files alone, and completes no option after the first one.
            script = script.replace("'*::", "'*:");
            edit(&mut script, ":NAME[,NAME]:(", ")", |names| format!(":NAME[,NAME]:_values -s , algorithm {names}"));
            let commands = "_describe -t commands 'hashloom commands' commands \"$@\"";
            script =
                script.replace(commands, &format!("local ret=1; {commands} && ret=0; _files && ret=0; return ret"));
            // Behind a file come files.
            let end = "        esac\n    ;;\nesac\n}\n";
            script = script.replacen(end, &format!("(*)\n_files\nret=0\n;;\n{end}"), 1);
        }
        Shell::Fish => {
            edit(&mut script, " -r -f -a \"sha1\\t''\n", "\"", |names| {
                let names = names.replace("\\t''\n", " ").replace("\\t''", "");
                format!(" -r -f -a \"(__hashloom_list sha1 {names})\"")
            });
            script += "complete -c hashloom -n __fish_hashloom_needs_command -F\n\n\
                # Names behind those that are typed, separated by commas.\n\
                function __hashloom_list\n    \
                set -l typed (string replace -r -- '^--[^=]*=' '' (commandline -ct))\n    \
                printf '%s\\n' (string replace -r -- '[^,]*$' '' \"$typed\")$argv\n\
                end\n";
        }
        _ => {}
    }
    script
}

/// Replaces each part from `from` to `to` by what `new` makes of the text between them.
fn edit(script: &mut String, from: &str, to: &str, new: impl Fn(&str) -> String) {
    let mut parts = script.split(from).map(ToOwned::to_owned);
    let mut edited = parts.next().unwrap_or_default();
    for part in parts {
        match part.split_once(to) {
            Some((text, rest)) => edited = edited + &new(text) + rest,
            None => edited = edited + from + &part,
        }
    }
    *script = edited;
}

/// Changes the completions for bash: a command whose arguments are files offers files first. clap_complete offers the
/// options unless the user has typed a letter.
fn offer_files(script: &mut String, command: &Command, label: &str) {
    for command in command.get_subcommands() {
        offer_files(script, command, &format!("{label}__subcmd__{}", command.get_name().replace('-', "__")));
    }
    let takes_files = command.get_positionals().any(|arg| arg.get_possible_values().is_empty());
    let Some(start) = script.find(&format!(" {label})\n")).filter(|_| takes_files) else { return };
    // Options are offered for the first word and, at the end, for every word without a value of its own.
    const OFFERS: [(&str, &str); 2] =
        [(" || ${COMP_CWORD} -eq ", " ]]"), ("\n            COMPREPLY=", "\n            return 0")];
    for (from, to) in OFFERS {
        let Some(at) = script[start..].find(from).map(|at| start + at) else { return };
        let Some(nbytes) = script[at..].find(to) else { return };
        script.replace_range(at..at + nbytes, "");
    }
}

/// The programs that the binary can be called as.
fn stand_in_programs() -> Vec<Command> {
    let sums = hashloom_standins::names().map(|name| hashloom_standins::command(name, false));
    [solaris::digest::command(), solaris::mac::command()].into_iter().chain(sums).collect()
}

/// Writes the page of a command and those of its subcommands; `above` are the names of the parent pages.
fn write_pages(command: &Command, above: &[String], folder: &Path) -> Result<(), String> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let path = folder.join(format!("{name}.1"));
    let page = page::of(command, above);
    output::write(&path, page.as_bytes())
        .map_err(|error| format!("{}: cannot be written: {}", display(&path), reason(&error)))?;
    let above = [above, &[name]].concat();
    page::subcommands(command).try_for_each(|command| write_pages(command, &above, folder))
}
