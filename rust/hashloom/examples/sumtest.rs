use hashloom::files::*;
fn main() {
    let mut a = std::env::args().skip(1);
    let alg: hashloom::Algorithm = a.next().unwrap().parse().unwrap();
    let n: usize = a.next().unwrap().parse().unwrap();
    let mapped: bool = a.next().unwrap() == "map";
    let dir = a.next().unwrap();
    let mut v: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    v.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    let m: std::sync::Arc<[Method]> = [Method::from(alg)].into();
    let mut out = String::new();
    let s = hash_files(
        v.into_iter().map(|p| Request { source: p.into(), methods: m.clone(), tag: () }),
        &Options::new().threads(n).mapped(mapped),
        |r, h| {
            use std::fmt::Write;
            let _ = writeln!(out, "{}  {}", h.unwrap().digests[0], r.source);
        },
    );
    print!("{out}");
    eprintln!("{s:?}");
}
