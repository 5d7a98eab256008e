fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    testwright_python::attach(|interpreter| {
        let choice = testwright_python::SourceChoice {
            folder: std::env::current_dir().unwrap(),
            ..Default::default()
        };
        let collector = testwright_python::Collector::start(interpreter, &choice).unwrap();
        let started = std::time::Instant::now();
        let ended = collector
            .run_program(std::path::Path::new(&words[1]), &words[2..], false)
            .unwrap();
        eprintln!("{ended:?} {:?}", started.elapsed());
        let mut text = String::new();
        for (file, arcs) in collector.arcs(&collector.all()) {
            for (from, to) in arcs {
                text.push_str(&format!("{}\t{from}\t{to}\n", file.display()));
            }
        }
        std::fs::write(&words[0], text).unwrap();
    });
}
