//! Small files of each format that a worker reads, made here, and damage to them. It does not use the program, so that
//! other tests can include this file.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::Random;

/// Makes a PDF; each page is a list of lines.
pub(crate) fn pdf(pages: &[&[&str]]) -> Vec<u8> {
    let mut objects: Vec<String> = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let mut kids = String::new();
    for lines in pages {
        let mut content = String::from("BT /F1 12 Tf 72 720 Td 14 TL\n");
        for line in *lines {
            let escaped = line.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
            writeln!(content, "({escaped}) Tj T*").unwrap();
        }
        content.push_str("ET");
        let page = objects.len() + 1;
        write!(kids, "{page} 0 R ").unwrap();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            page + 1
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len());
    let mut file = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1).unwrap();
    }
    let start = file.len();
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for place in places {
        writeln!(file, "{place:010} 00000 n ").unwrap();
    }
    write!(file, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1).unwrap();
    file.into_bytes()
}

/// Packs files into a zip archive.
pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Packs files into a tar archive.
pub(crate) fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, bytes) in files {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|it| u32::from(*it)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        archive.extend(header);
        archive.extend(*bytes);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1_024, 0);
    archive
}

/// Packs a file with gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

const RELATIONS: &str = "<?xml version=\"1.0\"?><Relationships \
    xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" \
    Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
    Target=\"TARGET\"/></Relationships>";
const W: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";

/// Makes a Word document: a heading, a paragraph, and a table of one row. The heading and the paragraph are XML.
pub(crate) fn docx(heading: &str, paragraph: &str, row: [&str; 2]) -> Vec<u8> {
    let text = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let body = format!(
        "<?xml version=\"1.0\"?><w:document {W}><w:body><w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r>\
         <w:t>{heading}</w:t></w:r></w:p>{}<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl></w:body>\
         </w:document>",
        text(paragraph),
        text(row[0]),
        text(row[1]),
    );
    let styles = format!(
        "<?xml version=\"1.0\"?><w:styles {W}><w:style w:type=\"paragraph\" w:styleId=\"Heading1\">\
         <w:name w:val=\"heading 1\"/></w:style></w:styles>"
    );
    let types = "<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
        <Default Extension=\"xml\" ContentType=\"application/xml\"/><Override PartName=\"/word/document.xml\" \
        ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>";
    zip(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", RELATIONS.replace("TARGET", "word/document.xml").as_bytes()),
        ("word/document.xml", body.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ])
}

/// Makes an `OpenDocument` text with a heading and a paragraph.
pub(crate) fn odt(heading: &str, paragraph: &str) -> Vec<u8> {
    let content = format!(
        "<?xml version=\"1.0\"?><office:document-content \
         xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
         xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><office:body><office:text>\
         <text:h text:outline-level=\"1\">{heading}</text:h><text:p>{paragraph}</text:p>\
         </office:text></office:body></office:document-content>"
    );
    zip(&[("mimetype", b"application/vnd.oasis.opendocument.text"), ("content.xml", content.as_bytes())])
}

/// Makes a workbook with one sheet, `Prices`, of text cells.
pub(crate) fn xlsx(rows: &[&[&str]]) -> Vec<u8> {
    const MAIN: &str = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
    let mut sheet = format!("<?xml version=\"1.0\"?><worksheet {MAIN}><sheetData>");
    for (row, cells) in rows.iter().enumerate() {
        write!(sheet, "<row r=\"{}\">", row + 1).unwrap();
        for (column, cell) in cells.iter().enumerate() {
            let place = format!("{}{}", char::from(b'A' + column as u8), row + 1);
            write!(sheet, "<c r=\"{place}\" t=\"inlineStr\"><is><t>{cell}</t></is></c>").unwrap();
        }
        sheet.push_str("</row>");
    }
    sheet.push_str("</sheetData></worksheet>");
    let book = format!(
        "<?xml version=\"1.0\"?><workbook {MAIN} \
         xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>\
         <sheet name=\"Prices\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
    );
    let relations = RELATIONS.replace("TARGET", "worksheets/sheet1.xml").replace("officeDocument\"", "worksheet\"");
    zip(&[
        ("[Content_Types].xml", b"<?xml version=\"1.0\"?><Types/>"),
        ("_rels/.rels", RELATIONS.replace("TARGET", "xl/workbook.xml").as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", relations.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ])
}

/// Makes a book of chapters, each a title and a text.
pub(crate) fn epub(chapters: &[(&str, &str)]) -> Vec<u8> {
    let container = "<?xml version=\"1.0\"?><container version=\"1.0\" \
        xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles><rootfile full-path=\"book.opf\" \
        media-type=\"application/oebps-package+xml\"/></rootfiles></container>";
    let (mut manifest, mut spine, mut files) = (String::new(), String::new(), Vec::new());
    for (at, (title, text)) in chapters.iter().enumerate() {
        write!(manifest, "<item id=\"c{at}\" href=\"c{at}.xhtml\" media-type=\"application/xhtml+xml\"/>").unwrap();
        write!(spine, "<itemref idref=\"c{at}\"/>").unwrap();
        let page = format!(
            "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title>{title}</title></head>\
             <body><h1>{title}</h1><p>{text}</p></body></html>"
        );
        files.push((format!("c{at}.xhtml"), page));
    }
    let package = format!(
        "<?xml version=\"1.0\"?>\
         <package version=\"3.0\" unique-identifier=\"id\" xmlns=\"http://www.idpf.org/2007/opf\">\
         <metadata xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:identifier id=\"id\">x</dc:identifier>\
         <dc:title>The mills</dc:title><dc:language>en</dc:language></metadata><manifest>{manifest}</manifest>\
         <spine>{spine}</spine></package>"
    );
    let mut all: Vec<(&str, &[u8])> = vec![
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container.as_bytes()),
        ("book.opf", package.as_bytes()),
    ];
    all.extend(files.iter().map(|(name, page)| (name.as_str(), page.as_bytes())));
    zip(&all)
}

/// Makes a message with a file attached.
pub(crate) fn eml(subject: &str, text: &str, name: &str, attached: &str) -> Vec<u8> {
    format!(
        "From: Anna Roe <anna@mill.example>\r\nTo: bob@mill.example\r\nSubject: {subject}\r\n\
         Date: Wed, 31 Jan 2024 12:00:00 +0100\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=part\r\n\r\n--part\r\nContent-Type: text/plain\r\n\r\n{text}\r\n\
         --part\r\nContent-Type: application/octet-stream\r\n\
         Content-Disposition: attachment; filename=\"{name}\"\r\n\r\n{attached}\r\n--part--\r\n"
    )
    .into_bytes()
}

/// A file of each format, with its name.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let text = "Harl Mill was designed by Anna Roe in 1802 and stands by the river Tarn.";
    let page: &[&str] = &[text, "It burned down twice and was built again, larger than before."];
    vec![
        ("a.pdf", pdf(&[page, page, page])),
        ("a.docx", docx("Harl Mill", text, ["wheel", "oak"])),
        ("a.odt", odt("Harl Mill", text)),
        ("a.xlsx", xlsx(&[&["part", "price"], &["wheel", "30"], &["axle", "4"]])),
        ("a.epub", epub(&[("Harl Mill", text), ("Anna Roe", "She was born in Eaststead and died there.")])),
        ("a.eml", eml("Harl Mill", text, "parts.csv", "part,price\r\nwheel,30")),
        ("a.zip", zip(&[("a/notes.txt", text.as_bytes()), ("b.pdf", &pdf(&[page]))])),
        ("a.txt.gz", gzip(text.as_bytes())),
        ("a.tar", tar(&[("a/notes.txt", text.as_bytes())])),
        ("b.tar.gz", gzip(&tar(&[("a/notes.txt", text.as_bytes()), ("b.pdf", &pdf(&[page]))]))),
    ]
}

/// Damages a file: bytes are changed, cut out, repeated or cut off; packed contents are changed before packing, so that
/// parsers see the damage.
pub(crate) fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len().max(1));
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..(at + random.below(64)).min(bytes.len()))),
            2 => {
                let piece = bytes[at..(at + 1 + random.below(256)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece.repeat(1 + random.below(20)));
            }
            3 => bytes.extend((0..random.below(64)).map(|_| random.below(256) as u8).collect::<Vec<_>>()),
            _ => {
                for byte in bytes.iter_mut().skip(at).take(1 + random.below(4)) {
                    *byte = random.below(256) as u8;
                }
            }
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
    bytes
}

/// Damages the files that are packed in a zip archive, and packs them again.
pub(crate) fn damaged_inside(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else { return damaged(bytes, random) };
    let chosen = random.below(archive.len().max(1));
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let mut inside = Vec::new();
        std::io::copy(&mut file, &mut inside).unwrap();
        let inside = if index == chosen { damaged(&inside, random) } else { inside };
        files.push((file.name().unwrap().into_owned(), inside));
    }
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    zip(&files)
}

/// Files made to do harm, with names.
pub(crate) fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let zeros = vec![0_u8; 200 << 20];
    let bomb = zip(&[("bomb.txt", &zeros)]);
    let document = format!("<w:document {W}><w:body>{}", "<w:tbl><w:tr><w:tc>".repeat(100_000));
    let letters = vec![b'a'; 300 << 20];
    let nested = (0..12).fold(zip(&[("end.txt", b"text")]), |inner, _| zip(&[("inner.zip", &inner)]));
    let endless = String::from_utf8(pdf(&[&["text"]])).unwrap().replace("/Kids [4 0 R ]", "/Kids [2 0 R ]");
    let deep = String::from_utf8(pdf(&[&["text"]])).unwrap();
    let deep = deep.replace("/Type /Page ", &format!("/Type /Page /X {} ", "[".repeat(200_000)));
    let entities = "<?xml version=\"1.0\"?><!DOCTYPE a [\
        <!ENTITY x SYSTEM \"file:///etc/passwd\"><!ENTITY a \"aaaaaaaaaa\">\
        <!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\">]>";
    let entity_text = odt("Harl Mill", "It stands. &x; &c;");
    let with_entities = zip(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", (entities.to_owned() + "<a><p>It stands. &x; &c;</p></a>").as_bytes()),
    ]);
    vec![
        ("bomb.zip", bomb),
        ("bomb.gz", gzip(&zeros)),
        ("bomb.tgz", gzip(&tar(&[("bomb.txt", &zeros)]))),
        ("nested.zip", nested),
        ("bomb.docx", docx_of(&letters)),
        ("deep.docx", docx_of(document.as_bytes())),
        ("endless.pdf", endless.into_bytes()),
        ("deep.pdf", deep.into_bytes()),
        ("entities.odt", with_entities),
        ("unknown-entities.odt", entity_text),
        ("huge-sheet.xlsx", huge_sheet()),
        ("encrypted.pdf", encrypted_pdf()),
        ("parts.eml", endless_parts()),
        ("path.zip", zip(&[("../../outside.txt", b"It is outside."), ("/etc/inside.txt", b"It is inside.")])),
    ]
}

fn docx_of(document: &[u8]) -> Vec<u8> {
    zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", RELATIONS.replace("TARGET", "word/document.xml").as_bytes()),
        ("word/document.xml", document),
    ])
}

/// A sheet that claims to reach from the first cell to the last.
fn huge_sheet() -> Vec<u8> {
    let sheet = xlsx(&[&["part", "price"], &["wheel", "30"]]);
    let mut archive = zip::ZipArchive::new(Cursor::new(&sheet)).unwrap();
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut file, &mut text).unwrap();
        files.push((file.name().unwrap().into_owned(), text.replace("r=\"B2\"", "r=\"XFD1048576\"")));
    }
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    zip(&files)
}

fn encrypted_pdf() -> Vec<u8> {
    let file = String::from_utf8(pdf(&[&["text"]])).unwrap();
    let key = "00".repeat(32);
    let encrypt =
        format!("/Encrypt << /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >> /ID [<00> <00>] /Root");
    file.replace("/Root", &encrypt).into_bytes()
}

/// A message of nested parts, each of which begins another.
fn endless_parts() -> Vec<u8> {
    let mut mail = String::from("From: a@b.c\r\nSubject: parts\r\nMIME-Version: 1.0\r\n");
    for depth in 0..20_000 {
        write!(mail, "Content-Type: multipart/mixed; boundary=b{depth}\r\n\r\n--b{depth}\r\n").unwrap();
    }
    mail.push_str("Content-Type: text/plain\r\n\r\nIt stands.\r\n");
    mail.into_bytes()
}
