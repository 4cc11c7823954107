//! Estimates the tokens of a text for a language model: vocabularies differ, and none of them is here.

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
        '\u{3400}'..='\u{9FFF}' => 0.9,
        '\u{AC00}'..='\u{D7AF}' => 0.75,
        _ => 1.0,
    }
}

/// Returns how many times as many tokens a model takes for something in the language of a text as for the same in
/// English: by the tokens of the letters of its script, and by how many of them say the same. Of languages in Latin
/// letters, those are told by letters that English does not have.
pub(crate) fn tokens_to_english(text: &str) -> f64 {
    let (mut english, mut tokens, mut latin, mut accented) = (0.0, 0.0, 0_u32, 0_u32);
    for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
        if letter <= LATIN_LAST {
            latin += 1;
            accented += u32::from(!letter.is_ascii());
        } else {
            english += english_letters(letter);
            tokens += tokens_of_letter(letter);
        }
    }
    let of_latin = if accented * ACCENTED_SHARE >= latin.max(1) { OTHER_LATIN } else { 1.0 };
    english += f64::from(latin);
    tokens += f64::from(latin) * of_latin * TOKENS_OF_ENGLISH_LETTER;
    if english > 0.0 { tokens / (english * TOKENS_OF_ENGLISH_LETTER) } else { 1.0 }
}

/// Tokens of a letter of English, in the mean.
const TOKENS_OF_ENGLISH_LETTER: f64 = 0.25;
/// One letter in so many that English does not have tells another language.
const ACCENTED_SHARE: u32 = 100;
/// How many times as many tokens other languages in Latin letters take as English, in the mean.
const OTHER_LATIN: f64 = 1.25;

/// Returns how many letters English says with what this one says, in the mean of its script.
const fn english_letters(letter: char) -> f64 {
    match letter {
        '\u{400}'..='\u{52F}' => 0.9,
        '\u{5D0}'..='\u{5EA}' | '\u{600}'..='\u{6FF}' => 1.1,
        '\u{1200}'..='\u{139F}' => 2.0,
        '\u{3040}'..='\u{30FF}' | '\u{AC00}'..='\u{D7AF}' => 1.9,
        '\u{3400}'..='\u{9FFF}' => 3.0,
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

    /// These texts are not those from which the averages were computed.
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
    /// The same in several languages: a passage, and questions about it as JSON.
    const PARALLEL: [(&str, &str, &str); 9] = [
        (
            "English",
            "Ada Lorne was born in Vell in 1801. Her uncle taught her, and she built the mill at the river.",
            r#"{"question": "Who built the mill at the river?", "keywords": ["mill", "river"]}"#,
        ),
        (
            "German",
            "Ada Lorne wurde 1801 in Vell geboren. Ihr Onkel unterrichtete sie, und sie baute die Mühle am Fluss.",
            r#"{"question": "Wer baute die Mühle am Fluss?", "keywords": ["Mühle", "Fluss"]}"#,
        ),
        (
            "Russian",
            "Ада Лорн родилась в Велле в 1801 году. Её учил дядя, и она построила мельницу у реки.",
            r#"{"question": "Кто построил мельницу у реки?", "keywords": ["мельница", "река"]}"#,
        ),
        (
            "Chinese",
            "艾达·洛恩于1801年出生在维尔。她的叔叔教导她，她在河边建造了磨坊。",
            r#"{"question": "谁在河边建造了磨坊？", "keywords": ["磨坊", "河"]}"#,
        ),
        (
            "traditional Chinese",
            "艾達·洛恩於1801年出生在維爾。她的叔叔教導她，她在河邊建造了磨坊。",
            r#"{"question": "誰在河邊建造了磨坊？", "keywords": ["磨坊", "河"]}"#,
        ),
        (
            "Japanese",
            "エイダ・ローンは1801年にヴェルで生まれた。叔父が彼女を教え、彼女は川のそばに水車小屋を建てた。",
            r#"{"question": "川のそばに水車小屋を建てたのは誰ですか？", "keywords": ["水車小屋", "川"]}"#,
        ),
        (
            "Korean",
            "에이다 론은 1801년 벨에서 태어났다. 삼촌이 그녀를 가르쳤고, 그녀는 강가에 방앗간을 지었다.",
            r#"{"question": "강가에 방앗간을 지은 사람은 누구인가?", "keywords": ["방앗간", "강"]}"#,
        ),
        (
            "Arabic",
            "ولدت آدا لورن في فيل عام 1801. علمها عمها، وبنت الطاحونة عند النهر.",
            r#"{"question": "من بنى الطاحونة عند النهر؟", "keywords": ["طاحونة", "نهر"]}"#,
        ),
        (
            "Amharic",
            "አዳ ሎርን በ1801 በቬል ተወለደች። አጎቷ አስተማራት፤ እሷም በወንዙ አጠገብ ወፍጮውን ሠራች።",
            r#"{"question": "በወንዙ አጠገብ ወፍጮውን የሠራው ማን ነው?", "keywords": ["ወፍጮ", "ወንዝ"]}"#,
        ),
    ];

    #[test]
    fn questions_in_any_language_are_taken_for_about_as_many_tokens_as_they_have() {
        let due = |text: &str| tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as f64;
        let english = due(PARALLEL[0].2);
        for (language, passage, questions) in PARALLEL {
            // Two thirds are in the language, the rest is JSON.
            let said = english * (1.0 + 2.0 * tokens_to_english(passage)) / 3.0;
            let off = said / due(questions) - 1.0;
            assert!(off.abs() <= 0.3, "{language}: {off:+.2}");
        }
    }
}
