//! How many tokens a language model takes a text for, about: vocabularies differ, and none of theirs is here.

use super::pieces::english;

/// What a text is made of, as tokenizers of language models part it before they look into their vocabularies.
#[derive(Clone, Copy, PartialEq)]
enum CharClass {
    Letters,
    Digits,
    Marks,
    Space,
}

impl CharClass {
    fn of(letter: char) -> Self {
        match letter {
            it if it.is_alphabetic() => Self::Letters,
            it if it.is_numeric() => Self::Digits,
            it if it.is_whitespace() => Self::Space,
            _ => Self::Marks,
        }
    }
}

/// The last letter that the pieces of English words are looked for with.
const LATIN_LAST: char = '\u{24F}';

/// Returns about how many tokens a text has, neither too many nor too few: the word pieces of each word, a token for
/// three digits, and one for each run of other marks. White space goes with what follows it, but for ends of lines, and
/// where digits follow. Other scripts have a mean for each letter.
#[expect(clippy::cast_sign_loss, reason = "no text has less than no tokens")]
#[must_use]
pub(crate) fn model_tokens(text: &str) -> u64 {
    let (mut count, mut letters, mut is_after_space) = (0, 0.0, false);
    for run in runs(text) {
        let class = run.chars().next().map(CharClass::of);
        match class {
            Some(CharClass::Letters) if run.chars().all(|letter| letter <= LATIN_LAST) => {
                count += english().count(run) as u64;
            }
            Some(CharClass::Letters) => letters += run.chars().map(tokens_of_letter).sum::<f64>(),
            Some(CharClass::Digits) => {
                count += (run.chars().count() as u64).div_ceil(3) + u64::from(is_after_space);
            }
            Some(CharClass::Marks) => count += 1,
            Some(CharClass::Space) => count += u64::from(run.contains('\n')),
            None => {}
        }
        is_after_space = class == Some(CharClass::Space) && !run.contains('\n');
    }
    count + letters.round() as u64
}

/// Returns how many tokens a letter is in the mean, by its script: as measured with `o200k_base` on some sentences of
/// each; scripts that were not measured have one.
const fn tokens_of_letter(letter: char) -> f64 {
    match letter {
        ..=LATIN_LAST => 0.25,
        '\u{400}'..='\u{52F}' => 0.3,
        '\u{600}'..='\u{6FF}' => 0.33,
        '\u{1200}'..='\u{139F}' => 2.25,
        '\u{3040}'..='\u{30FF}' => 0.85,
        '\u{3400}'..='\u{9FFF}' => 0.82,
        '\u{AC00}'..='\u{D7AF}' => 0.75,
        _ => 1.0,
    }
}

/// Returns the longest parts of a text that are of one kind.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let kind = CharClass::of(rest.chars().next()?);
        let end = rest.find(|it| CharClass::of(it) != kind).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_word_pieces_threes_of_digits_and_runs_of_marks() {
        let counts = ["", "the mill", "The\n\nmill", "1841", "in 1841", "{\"a\": 1}", "  "].map(model_tokens);
        assert_eq!(counts, [0, 2, 3, 2, 4, 6, 0]);
    }

    /// The texts are not those that the means were taken of.
    #[test]
    fn texts_of_any_kind_are_taken_for_about_as_many_tokens_as_a_model_takes_them_for() {
        let numbers = |step: u64| (1..400).map(move |it| (it * step * 7_919) % 10_u64.pow(1 + (it % 8) as u32));
        let digits: Vec<String> = numbers(3).map(|it| it.to_string()).collect();
        let digits = digits.join(" ");
        let row = |year: u64| format!("| {year} | {} | {}.{:02} |\n", year * 37 % 99_991, year % 877, year % 100);
        let table = (1800..1900).map(row).collect::<Vec<String>>().concat();
        let chinese = "港口的灯塔建成于一九零二年，高三十米，由石头砌成。看守人每天傍晚点灯，清晨熄灯。战争期间灯塔\
            曾经被炸毁，后来由渔民们集资重建。现在它是一座博物馆，里面展出旧的航海图、望远镜和船员的日记。每逢周末，许多学生\
            会来这里参观，听老人讲述海上的故事。";
        let amharic = "መምህሩ ለተማሪዎቹ ስለ ታሪክ አስተማረ። ልጆቹ በጠዋት ወደ ትምህርት ቤት ይሄዳሉ፤ ከሰዓት በኋላ ወላጆቻቸውን ይረዳሉ። \
            ገበሬዎች በመስክ ላይ ጤፍና ስንዴ ይዘራሉ። የቡና ሥነ ሥርዓት በእያንዳንዱ ቤት የተለመደ ነው። በገበያ ውስጥ ሴቶች ልብስና ቅመም ይሸጣሉ።";
        for (kind, text) in [("digits", digits.as_str()), ("table", &table), ("Chinese", chinese), ("Amharic", amharic)]
        {
            let (said, due) = (model_tokens(text), tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len());
            let off = said as f64 / due as f64 - 1.0;
            assert!(off.abs() <= 0.15, "{kind}: {said} said, {due} taken, {off:+.3}");
        }
    }
}
