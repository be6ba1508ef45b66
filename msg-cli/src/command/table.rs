//! Columns of text.

use std::io::{self, Write};

/// A table with a head; the columns named are numbers, which stand to the right.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    numbers: &'static [usize],
}

impl Table {
    pub(super) fn new(head: &[&str], numbers: &'static [usize]) -> Self {
        Self { rows: vec![head.iter().map(|text| (*text).to_owned()).collect()], numbers }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        let widths: Vec<usize> = (0..columns).filter_map(width).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                if self.numbers.contains(&column) {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            });
            writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// Bytes for people: `512 B`, `1.5 KiB`.
pub(super) fn bytes(count: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut count, mut unit) = (count, 0);
    while count >= 1024.0 && unit + 1 < units.len() {
        count /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count:.0} B") } else { format!("{count:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["topic", "messages"], &[1]);
        table.row(["a.long.topic".to_owned(), "7".to_owned()]);
        table.row(["x".to_owned(), "1234567890".to_owned()]);
        let mut text = Vec::new();
        table.print(&mut text).unwrap();
        let expected = "topic           messages\na.long.topic           7\nx             1234567890\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn bytes_have_a_unit() {
        let check = |count: f64, expected: &str| assert_eq!(bytes(count), expected);
        check(0.0, "0 B");
        check(1023.0, "1023 B");
        check(1536.0, "1.5 KiB");
        check(5e9, "4.7 GiB");
    }
}
