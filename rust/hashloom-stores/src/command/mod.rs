// SPDX-License-Identifier: MIT OR Apache-2.0

//! What `hashloom check` reads beside lists: `par2`; `python`, which finds lists; `stores` and `dpkg`, whose files
//! `audit` checks. The program hands these functions to `check`.

mod audit;
mod dpkg;
pub mod par2;
pub mod python;
mod stores;

use std::path::Path;

use hashloom_list::command::check::Check;
use hashloom_list::command::front;
use hashloom_list::command::verdict::Rules;

use self::audit::Audit;
use self::dpkg::Packages;

/// Checks what `--names` or `--dpkg` asks for. Returns the exit status.
pub fn check(arguments: &Check, rules: Rules) -> Result<u8, String> {
    let options = arguments.options();
    if arguments.dpkg {
        let packages = Packages::read(arguments.directory.as_deref().unwrap_or(Path::new("/")))?;
        let none = || None;
        return front::run(&[], options, none, |options, console| Audit { rules, options, console }.packages(packages));
    }
    let (folders, total) = (&arguments.lists, arguments.lists.clone());
    let total = move || stores::total_nbytes(&total);
    front::run(folders, options, total, |options, console| Audit { rules, options, console }.stores(folders))
}
