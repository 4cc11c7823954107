"""Questions about a folder of texts, by rule: questions.py FOLDER [HAND_WRITTEN [LANGUAGE]] > questions.jsonl

There are four kinds. A *heading* is asked as it is; its section answers it. The heading of a mail is its sender and
date. An *identifier* is asked alone or in a short question; every passage that contains it answers. *Keywords* are rare
words of a sentence, out of order. A *paraphrase* has the words of the first sentence of a section in other forms, some
replaced by synonyms. Random choices depend only on the texts. Questions written by hand follow; one whose gold occurs
nowhere is an error.
"""

import collections
import hashlib
import json
import pathlib
import re
import sys

PER_KIND = {"heading": 30, "identifier": 15, "keywords": 12, "paraphrase": 12}
UNDERLINE = re.compile(r"^([=\-~^\"*#+.`'])\1{2,}\s*$")
ATX = re.compile(r"^(#{1,5})\s+(.+?)\s*#*$")
ASCIIDOC = re.compile(r"^(={2,5}) (\S.*)$")
VIM = re.compile(r"^\*(\d\d\.\d+)\*\s+(\S.*)$")
# Only used for the guides in German.
NUMBERED = re.compile(r"(?!)")
MAIL = re.compile(r"^From ([A-Z][^(]*\(\d{4}-\d\d-\d\d\)).*:$")
MAILS_MAX = 12
# Questions written by hand are what people ask, and a third as many as those made by rule: in a fit, they count more.
NATURAL = {"fact", "several", "comparison", "typo"}
NATURAL_WEIGHT = 3
GLOSSARY = re.compile(r"^   :([A-Za-z][\w' -]{2,30}):")
IDENTIFIER = re.compile(r"(?<![\w/.:-])(?:--[a-z][a-z-]{3,}|[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+|"
                        r"[a-z]+[A-Z][A-Za-z]{3,}|[a-z]{3,}\.[a-z]+[A-Z]\w+|[A-Z]{2,}[0-9]{2,}|\w+::\w+)(?![\w/-])")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
COMMON = set("""a about above after again all also although always an and another any are as at be because been before
being below between both but by can cannot case could did do does doing done during each either else even every example
few first for from further get given had has have having here how however if in into is it its itself just last least
less like likely made make makes many may me might more most much must my need needs new no not note now of off on once
one only or other others our out over own part same see set several shall should since so some something such than that
the their them then there these they thing this those though three through thus to too two under until up upon us use
used useful user users using very was way we well were what when where whether which while who whole whose why will with
within without would yet you your""".split())
SYNONYMS = {"allow": "permit", "allows": "permits", "begin": "start", "big": "large", "build": "construct",
            "change": "modify", "changes": "modifications", "choose": "select", "contains": "holds", "create": "make",
            "creates": "makes", "delete": "remove", "describes": "explains", "display": "show", "error": "failure",
            "errors": "failures", "fast": "quick", "find": "locate", "function": "routine", "keep": "retain",
            "large": "big", "list": "enumeration", "many": "numerous", "method": "technique", "people": "persons",
            "purpose": "aim", "quickly": "rapidly", "remove": "delete", "return": "give back", "returns": "gives back",
            "run": "execute", "show": "display", "shows": "displays", "small": "little", "specify": "indicate",
            "start": "begin", "support": "handle", "useful": "helpful", "write": "author", "wrong": "incorrect"}
FORMS = ["{}", "What does {} do?", "{}", "How is {} used?"]
FRAMES = ["What is said about {}?", "how does {} relate", "I want to know about {}", "explain {}"]
# The same in German, which inflects words that English does not, and capitalizes nouns.
GERMAN = {
    "NUMBERED": re.compile(r"^\d+(?:\.\d+)+\. (\S.*)$"),
    "WORD": re.compile(r"[A-Za-zÄÖÜäöüß][A-Za-zÄÖÜäöüß'-]+"),
    "COMMON": set("""aber alle allen aller alles als also am an andere anderen anderes auch auf aus bei beim bereits bis
da dabei dafür damit dann darauf das dass dem den denen denn der deren des dessen die dies diese diesem diesen dieser
dieses doch dort durch ein eine einem einen einer eines einige entweder er es etwas falls für gegen gibt haben hat hier
ihr ihre ihrem ihren ihrer im immer in indem ist ja jede jedem jeden jeder jedes jedoch kann kein keine können lassen
lesen man mehr mit müssen nach nicht noch nun nur ob oben oder ohne sehr sein seine selbst sich sie siehe sind so sofern
sollte sollten sowie über um und unter viele vom von vor wann war was weil weitere wenn werden wie wieder wird wo wurde
wurden während zu zum zur zwischen""".split()),
    "SYNONYMS": {"ändern": "anpassen", "anzeigen": "ausgeben", "ausführen": "starten", "befehl": "kommando",
                 "benutzer": "anwender", "datei": "file", "erstellen": "anlegen", "erzeugen": "anlegen",
                 "fehler": "problem", "finden": "entdecken", "löschen": "entfernen", "möglichkeit": "option",
                 "nutzen": "verwenden", "programm": "anwendung", "rechner": "computer", "starten": "beginnen",
                 "verwenden": "benutzen", "verzeichnis": "ordner", "wichtig": "bedeutend"},
    "FORMS": ["{}", "Was macht {}?", "{}", "Wie wird {} benutzt?"],
    "FRAMES": ["Was wird über {} gesagt?", "wie hängt {} zusammen", "Ich möchte etwas wissen über {}", "erkläre {}"],
}


def drawn(items, count, salt):
    """Returns `count` of the items, spread over documents: an order that depends on the items alone."""
    key = lambda item: hashlib.blake2b(f"{salt} {item[0]} {item[1]}".encode(), digest_size=8).digest()
    per_document = collections.Counter()
    taken = []
    for limit in (1, 3, 1000):
        for item in sorted(items, key=key):
            if len(taken) < count and item not in taken and per_document[item[0]] < limit:
                per_document[item[0]] += 1
                taken.append(item)
    return taken


def sections(text):
    """Yields (heading, lines of the body) of a text in Markdown, reStructuredText, AsciiDoc, or the help of an editor."""
    lines = text.split("\n")
    heading, body, fenced = None, [], False
    tiddler = re.match(r"(?:[\w-]+: .*\n)*?title: (.+)\n", text)
    if tiddler and re.match(r"(created|tags|modified|title|caption|list|type)", text):
        yield tiddler.group(1), lines[[i for i, line in enumerate(lines) if not line.strip()][0]:] if "" in lines else []
        return
    number = 0
    while number < len(lines):
        line = lines[number]
        following = lines[number + 1] if number + 1 < len(lines) else ""
        before = lines[number - 1] if number else ""
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        found = None
        if not fenced:
            match = ATX.match(line) or ASCIIDOC.match(line) or VIM.match(line)
            if match:
                found = match.group(2)
            elif GLOSSARY.match(line):
                found = GLOSSARY.match(line).group(1)
            elif MAIL.match(line):
                found = f"From {MAIL.match(line).group(1)}"
            elif NUMBERED.match(line) and not (before.strip() or following.startswith(tuple("0123456789"))):
                found = NUMBERED.match(line).group(1)
                if following.strip():
                    found, number = f"{found} {following.strip()}", number + 1
            elif (line.strip() and not line.startswith((" ", "\t", "..")) and UNDERLINE.match(following)
                  and abs(len(following.strip()) - len(line.strip())) <= 3 and not UNDERLINE.match(line)):
                found, number = line, number + 1
        if found is None:
            body.append(line)
        else:
            yield heading, body
            heading, body = found.strip(), []
            if GLOSSARY.match(line):
                body.append(line)
        number += 1
    yield heading, body


def plain(heading):
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    heading = re.sub(r":\w+:`~?([^`<]*?)(?: <[^>]*>)?`", r"\1", heading)
    heading = re.sub(r"[`*_|\\]+", lambda it: "_" if it.group() == "_" else "", heading)
    return re.sub(r"^(?:\d+(?:\.\d+)*[.)]?|[A-Z](?:\.\d+)+)\s+", "", heading).strip(" #")


def gold_lines(body):
    """Returns lines that tell the passages of a section: those of prose, some words long."""
    lines = [line.strip() for line in body]
    return [line for line in lines if len(line) >= 30 and len(WORD.findall(line)) >= 4 and not line.startswith("..")]


def sentences(body):
    for paragraph in re.split(r"\n\s*\n", "\n".join(body)):
        if paragraph.lstrip().startswith(("..", "|", ">", "*", "-", "```", "    ", "\t", "#", ":", "<", "[")):
            continue
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split())):
            words = sentence.split()
            if (10 <= len(words) <= 35 and sentence.endswith((".", "?", "!")) and sentence[0].isupper()
                    and sum(word.isalpha() for word in words) >= 0.7 * len(words)):
                yield sentence


def inflected(word):
    if word in SYNONYMS:
        return SYNONYMS[word]
    if FORMS is GERMAN["FORMS"]:
        return word[:-1] if word.endswith(("en", "es")) and len(word) > 5 else word
    if word.endswith("ices"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def main(folder, hand_written=None, language="en"):
    if language == "de":
        globals().update(GERMAN)
    root = pathlib.Path(folder)
    texts = {f"{root.name}/{path.relative_to(root).as_posix()}": path.read_text(errors="replace")
             for path in sorted(root.rglob("*")) if path.is_file()}
    all_sections = [(document, heading, body) for document, text in texts.items() for heading, body in sections(text)]
    counts = collections.Counter(word.lower() for text in texts.values() for word in set(WORD.findall(text)))
    questions = []

    titles = collections.Counter(plain(heading).lower() for _, heading, _ in all_sections if heading)
    headings = []
    for document, heading, body in all_sections:
        words = plain(heading).split() if heading else []
        is_entry = bool(heading and body and GLOSSARY.match(body[0]))
        long_enough = len(words) <= 16 and len(WORD.findall(plain(heading))) >= 3 if heading else False
        long_enough = long_enough or is_entry
        if long_enough and titles[plain(heading).lower()] == 1 and len(gold_lines(body)) >= 2:
            headings.append((document, plain(heading), gold_lines(body)[:40]))
    are_mails = any(MAIL.match(f"{heading}:") for _, heading, _ in headings)
    for document, heading, lines in drawn(headings, MAILS_MAX if are_mails else PER_KIND["heading"], "heading"):
        questions.append(("heading", heading, [{"document": document, "texts": lines}]))

    where = collections.defaultdict(set)
    for document, text in texts.items():
        for identifier in IDENTIFIER.findall(text):
            if len(identifier) >= 6:
                where[identifier].add(document)
    # If there are few, they are dashes and the like in prose.
    if len(where) < 30:
        where.clear()
    identifiers = [(min(documents), identifier) for identifier, documents in where.items() if len(documents) <= 3]
    for number, (_, name) in enumerate(drawn(identifiers, PER_KIND["identifier"], "identifier")):
        questions.append(("identifier", FORMS[number % 4].format(name), [{"texts": [name]}]))

    firsts, others = [], []
    one = 3 * len(texts) > len(all_sections)
    for document, heading, body in all_sections:
        for place, sentence in enumerate(sentences(body)):
            words = [word.lower() for word in WORD.findall(sentence)]
            rare = sorted({word for word in words if word not in COMMON and len(word) > 3}, key=lambda it: (counts[it], it))
            if len(rare) >= 5:
                (others if (place % 4 if one else place) else firsts).append((document, sentence, rare, words))
    for document, sentence, rare, _ in drawn(others or firsts, PER_KIND["keywords"], "keywords"):
        chosen = sorted(rare[1:5], key=lambda it: hashlib.blake2b(it.encode()).digest())
        questions.append(("keywords", " ".join(chosen), [{"document": document, "texts": [sentence]}]))
    for number, (document, sentence, rare, words) in enumerate(drawn(firsts, PER_KIND["paraphrase"], "paraphrase")):
        # Without the rarest word, which questions in one's own words rarely contain.
        kept = [inflected(word) for word in words if word in rare[1:8] or word in SYNONYMS]
        questions.append(("paraphrase", FRAMES[number % 4].format(" ".join(dict.fromkeys(kept))),
                          [{"document": document, "texts": [sentence]}]))

    for number, (kind, question, gold) in enumerate(questions):
        print(json.dumps({"id": f"{root.name}-{number}", "question": question, "type": kind, "passages": gold},
                         ensure_ascii=False))
    if hand_written and pathlib.Path(hand_written).exists():
        by_hand(root.name, texts, pathlib.Path(hand_written))


def by_hand(name, texts, path):
    """Prints the questions of a file with `document` and `texts`, having looked that their gold is there."""
    flat = {document: " ".join(text.split()) for document, text in texts.items()}
    for number, line in enumerate(path.read_text().splitlines()):
        question = json.loads(line)
        for item in question.get("passages", []):
            if "document" in item:
                item["document"] = f"{name}/{item['document']}"
            where = [flat[item["document"]]] if "document" in item else flat.values()
            if not any(" ".join(text.split()) in it for text in item["texts"] for it in where):
                sys.exit(f"{path}, line {number + 1}: nowhere: {item}")
        if question.get("passages"):
            question["id"] = f"{name}-hand-{number}"
            if question["type"] in NATURAL:
                question["weight"] = NATURAL_WEIGHT
            if len(question["passages"]) == 1:
                # What `cairn eval answers` looks for in the quotations.
                question["answers"] = question["passages"][0]["texts"]
            print(json.dumps(question, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
