//! Line charts as SVG, readable on a light and on a dark page.

use std::fmt::Write as _;

/// A line with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What it is called.
    pub name: String,
    /// Its points, by ascending x.
    pub points: Vec<(f64, f64)>,
}

/// What a chart shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What stands above it.
    pub title: String,
    /// What is across.
    pub across: String,
    /// What is up.
    pub up: String,
    /// Whether the distance across is that of logarithms.
    pub logarithmic: bool,
    /// The value at the top; the largest of the points where none is given.
    pub top: Option<f64>,
    /// The lines.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 200.0;
const ABOVE: f64 = 40.0;
const BELOW: f64 = 48.0;
/// Approximate width of a digit.
const DIGIT_WIDTH: f64 = 7.0;
/// Distance between two names in the legend.
const NAME_HEIGHT: f64 = 18.0;
/// Horizontal grid lines.
const GRID: u8 = 5;
/// Maximum characters of a name in the legend.
const NAME_CHARS: usize = 28;
/// Distinguishable for people with color blindness (Okabe, Ito), and visible on white and on black.
const COLORS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888"];

impl Chart {
    /// Returns the chart as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        // Writing to a string cannot fail.
        let _ok = self.write(&mut svg);
        svg
    }

    fn write(&self, svg: &mut String) -> std::fmt::Result {
        let scale = Scale::of(self);
        // At least as high as the legend.
        let height = HEIGHT.max(ABOVE + NAME_HEIGHT * self.series.len() as f64);
        writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n<style>\n\
             text {{ font: 12px sans-serif; fill: #333 }}\n.grid {{ stroke: #ccc; stroke-width: 1 }}\n\
             .line {{ fill: none; stroke-width: 2 }}\n@media (prefers-color-scheme: dark) {{\n\
             text {{ fill: #ddd }}\n.grid {{ stroke: #555 }}\n}}\n</style>\n<title>{}</title>",
            escaped(&self.title)
        )?;
        writeln!(svg, "<text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{}</text>", escaped(&self.title))?;
        self.write_axes(svg, &scale)?;
        for (number, series) in self.series.iter().enumerate() {
            write_series(svg, &scale, series, number)?;
        }
        svg.push_str("</svg>\n");
        Ok(())
    }

    fn write_axes(&self, svg: &mut String, scale: &Scale) -> std::fmt::Result {
        let end = WIDTH - RIGHT;
        for step in 0..=GRID {
            let value = scale.top * f64::from(step) / f64::from(GRID);
            let y = scale.y(value);
            writeln!(svg, "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{end}\" y2=\"{y:.1}\"/>")?;
            let (x, y) = (LEFT - 6.0, y + 4.0);
            writeln!(svg, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", number(value))?;
        }
        // A label that would overlap the one before it is left out.
        let mut free = 0.0;
        for value in self.marks() {
            let (x, y, label) = (scale.x(value), HEIGHT - BELOW + 18.0, number(value));
            let half = label.len() as f64 * DIGIT_WIDTH / 2.0;
            if x - half >= free {
                writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>")?;
                free = x + half + DIGIT_WIDTH;
            }
        }
        let (middle, foot) = (f64::midpoint(LEFT, end), HEIGHT - 10.0);
        writeln!(svg, "<text x=\"{middle}\" y=\"{foot}\" text-anchor=\"middle\">{}</text>", escaped(&self.across))?;
        // It begins where the numbers end, so that it does not touch the topmost one.
        writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">{}</text>", ABOVE - 6.0, escaped(&self.up))
    }

    /// Returns the values of x that have a point.
    fn marks(&self) -> Vec<f64> {
        let mut marks: Vec<f64> = self.series.iter().flat_map(|it| &it.points).map(|point| point.0).collect();
        marks.sort_unstable_by(f64::total_cmp);
        marks.dedup();
        marks
    }
}

/// Maps values to positions in the chart.
struct Scale {
    low: f64,
    high: f64,
    top: f64,
    logarithmic: bool,
}

impl Scale {
    fn of(chart: &Chart) -> Self {
        let marks = chart.marks();
        let across = |value: Option<&f64>| value.map_or(0.0, |value| place(*value, chart.logarithmic));
        let points = chart.series.iter().flat_map(|it| &it.points);
        let most = points.map(|point| point.1).fold(0.0, f64::max);
        let top = chart.top.unwrap_or_else(|| rounded_up(most));
        Self { low: across(marks.first()), high: across(marks.last()), top, logarithmic: chart.logarithmic }
    }

    fn x(&self, value: f64) -> f64 {
        let width = WIDTH - LEFT - RIGHT;
        let span = self.high - self.low;
        let share = if span > 0.0 { (place(value, self.logarithmic) - self.low) / span } else { 0.5 };
        // Keeps the first and the last point away from the frame.
        LEFT + width * (0.05 + 0.9 * share)
    }

    fn y(&self, value: f64) -> f64 {
        let height = HEIGHT - ABOVE - BELOW;
        HEIGHT - BELOW - height * (value / self.top.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }
}

fn place(value: f64, logarithmic: bool) -> f64 {
    if logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value }
}

/// Returns the next of 1, 2, 5, 10, 20 … that is not below `value`.
fn rounded_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let unit = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|it| it * unit).find(|it| *it >= value).unwrap_or(10.0 * unit)
}

fn write_series(svg: &mut String, scale: &Scale, series: &Series, place: usize) -> std::fmt::Result {
    let color = COLORS[place % COLORS.len()];
    let points: Vec<String> =
        series.points.iter().map(|(x, y)| format!("{:.1},{:.1}", scale.x(*x), scale.y(*y))).collect();
    // Once colors repeat, lines are dashed.
    let dashes = if place < COLORS.len() { "" } else { " stroke-dasharray=\"6 3\"" };
    writeln!(svg, "<polyline class=\"line\" stroke=\"{color}\"{dashes} points=\"{}\"/>", points.join(" "))?;
    for (x, y) in &series.points {
        let (cx, cy, shown) = (scale.x(*x), scale.y(*y), number(*y));
        writeln!(
            svg,
            "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\" fill=\"{color}\"><title>{shown}</title></circle>"
        )?;
    }
    let (x, y) = (WIDTH - RIGHT + 12.0, ABOVE + NAME_HEIGHT * place as f64);
    writeln!(svg, "<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{color}\"/>", y - 9.0)?;
    let name: String = series.name.chars().take(NAME_CHARS).collect();
    writeln!(svg, "<text x=\"{}\" y=\"{y}\">{}</text>", x + 16.0, escaped(&name))
}

/// Returns a number with as many digits as a chart needs.
fn number(value: f64) -> String {
    let text = if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") };
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

pub(super) fn escaped(text: &str) -> String {
    let shown = text.chars().map(|it| if it.is_control() { char::REPLACEMENT_CHARACTER } else { it });
    shown.collect::<String>().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> Chart {
        Chart {
            title: "a < b".to_owned(),
            across: "hops".to_owned(),
            up: "%".to_owned(),
            logarithmic: false,
            top: Some(100.0),
            series: vec![Series { name: "trail & \u{1b}".to_owned(), points }],
        }
    }

    #[test]
    fn a_chart_is_escaped_and_has_a_mark_for_each_point() {
        let svg = chart(vec![(2.0, 0.0), (4.0, 100.0)]).svg();
        assert!(svg.contains("a &lt; b") && svg.contains("trail &amp; \u{fffd}"), "{svg}");
        assert!(svg.contains("points=\"75.2,312.0 420.8,40.0\""), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 2);
    }

    #[test]
    fn a_chart_with_one_point_or_none_is_drawn() {
        assert!(chart(vec![(3.0, 50.0)]).svg().contains("points=\"248.0,176.0\""));
        assert!(chart(Vec::new()).svg().ends_with("</svg>\n"));
    }

    #[test]
    fn marks_that_would_run_into_each_other_are_not_all_labeled() {
        let near = chart(vec![(6_841.0, 1.0), (6_955.0, 2.0), (110_688.0, 3.0)]).svg();
        assert!(near.contains(">6841<") && !near.contains(">6955<") && near.contains(">110688<"), "{near}");
        assert_eq!(near.matches("<circle").count(), 3);
    }

    #[test]
    fn a_chart_is_as_high_as_its_legend_and_repeats_no_line() {
        let mut many = chart(vec![(1.0, 1.0)]);
        many.series = vec![many.series[0].clone(); 20];
        let svg = many.svg();
        assert!(svg.contains("viewBox=\"0 0 640 400\""), "{svg}");
        assert_eq!(svg.matches("stroke-dasharray").count(), 13);
    }

    #[test]
    fn an_axis_ends_at_a_round_number() {
        for (value, expect) in [(0.0, 1.0), (3.0, 5.0), (5.0, 5.0), (61.0, 100.0), (0.013, 0.02)] {
            assert!((rounded_up(value) - expect).abs() < 1e-9, "{value}");
        }
    }
}
