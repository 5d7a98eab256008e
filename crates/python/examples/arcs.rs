fn main() {
    let words: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    testwright_python::attach(|interpreter| {
        let choice = testwright_python::SourceChoice {
            folder: std::env::current_dir().unwrap(),
            ..Default::default()
        };
        let collector = testwright_python::Collector::start(interpreter, &choice).unwrap();
        let started = std::time::Instant::now();
        let ended = collector.run_program(&words[1..], false).unwrap();
        eprintln!("{ended:?} {:?}", started.elapsed());
        let files = collector.files();
        let mut lines: Vec<String> = collector
            .all()
            .iter()
            .map(|target| {
                let (file, (from, to)) = collector.meaning(target);
                format!("{}\t{from}\t{to}\n", files[file].path.display())
            })
            .collect();
        lines.sort();
        std::fs::write(&words[0], lines.concat()).unwrap();
    });
}
