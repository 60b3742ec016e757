"""Markdown as the checker needs it: prose, code, links, anchors, sentences."""
import functools
import re

FENCE = re.compile(r"^\s*(```|~~~)")
COMMENT = re.compile(r"<!--(.*?)-->", re.S)
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()]*\))?[^()\s]*)(?:\s+\"[^\"]*\")?\)")
INLINE = re.compile(r"(`+)(.+?)\1", re.S)
ITEM = re.compile(r"^\s*([-*+]|\d+[.)])\s+")
OTHER = re.compile(r"\s*(#{1,6} |\||```|~~~|<!--)")  # what ends a text without a blank line


class Block:
    """Lines of one kind: "text", "heading", "table", "code" or "comment". `line` is the number of the first."""

    def __init__(self, kind, line, lines):
        self.kind, self.line, self.lines = kind, line, lines

    def text(self):
        return "\n".join(self.lines)


def blocks(source):
    """The blocks of a page in their order. A list item is a text block of its own; an indented line is code where
    it follows a blank line outside of lists, as in CommonMark."""
    found, lines, end, in_list = [], source.split("\n"), 0, False

    def after(begin, goes_on):
        """The first line from `begin` that is no part of the block."""
        return next((i for i in range(begin, len(lines)) if not goes_on(lines[i])), len(lines))

    while end < len(lines):
        start, line = end, lines[end]
        if not line.strip():
            end += 1
        elif FENCE.match(line):
            end = after(start + 1, lambda text: not FENCE.match(text)) + 1
            found.append(Block("code", start + 2, lines[start + 1:end - 1]))
        elif line.lstrip().startswith("<!--"):
            end = after(start, lambda text: "-->" not in text) + 1
            found.append(Block("comment", start + 1, lines[start:end]))
        elif re.match(r"#{1,6} ", line):
            in_list, end = False, start + 1
            found.append(Block("heading", start + 1, [line]))
        elif line.lstrip().startswith("|"):
            in_list = in_list and line.startswith(" ")
            end = after(start, lambda text: text.lstrip().startswith("|"))
            found.append(Block("table", start + 1, lines[start:end]))
        elif line.startswith("    ") and not in_list:
            end = after(start, lambda text: text.startswith("    ") or not text.strip())
            code = "\n".join(text[4:] for text in lines[start:end]).rstrip()
            found.append(Block("code", start + 1, code.split("\n")))
        else:
            in_list = ITEM.match(line) or (in_list and line.startswith(" "))
            end = after(start + 1, lambda text: text.strip() and not (ITEM.match(text) or OTHER.match(text)))
            found.append(Block("text", start + 1, lines[start:end]))
    return found


def found_in(source, pattern, *left_out):
    """(line, last group) of each match inside text, tables and headings, in which `left_out` are blanked out."""
    found = []
    for block in blocks(source):
        text = block.text() if block.kind not in ("code", "comment") else ""
        for other in left_out:
            text = other.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        found += [(block.line + text.count("\n", 0, match.start()), match.groups()[-1].strip()) for match in pattern.finditer(text)]
    return found


def links(source):
    """(line, target) of each link and picture outside of code."""
    return found_in(source, LINK, COMMENT, INLINE)


def inline_code(source):
    """(line, text) of each piece of code inside text, tables and headings."""
    return found_in(source, INLINE, COMMENT)


@functools.cache
def anchors(source):
    """The anchors of a page's headings, by GitHub's rule, and those of <a id="…">."""
    seen, found = {}, set()
    for block in (one for one in blocks(source) if one.kind == "heading"):
        title = block.lines[0].lstrip("#").strip()
        title = LINK.sub(lambda match: match.group(1), title).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", source))


def words(text):
    """How many words: what has a letter or a digit."""
    return sum(bool(re.search(r"\w", word)) for word in text.split())


CODE = "\x01"  # marks the beginning of inline code, with which a sentence may begin
ABBREVIATIONS = ("e.g", "i.e", "Fig", "fig", "vs", "cf", "Sec", "sec", "approx", "No", "pp", "St", "etc", "al")


def sentences(source):
    """Words of each sentence of the prose: no headings, tables, code blocks or comments. Inline code counts as its
    words. A sentence ends at . ! or ? before a space and anything that can begin one, and at the end of its
    paragraph or list item."""
    lengths = []
    for block in (one for one in blocks(source) if one.kind == "text"):
        text = COMMENT.sub(" ", " ".join(line.strip() for line in block.lines))
        text = INLINE.sub(lambda match: CODE + re.sub(r"[.!?](?=\s)", "", match.group(2)), ITEM.sub("", text))
        text = LINK.sub(lambda match: match.group(1), text).replace("**", "").replace("*", "")
        begin = 0
        for match in re.finditer(r"[.!?][)\"’”]?\s+(?=\S)", text):
            last = (text[begin:match.start()].split() or [""])[-1].lstrip("(")
            if last in ABBREVIATIONS or (text[match.end()].islower() and text[match.start()] == "."):
                continue
            lengths.append(words(text[begin:match.end()]))
            begin = match.end()
        lengths.append(words(text[begin:]))
    return [length for length in lengths if length]
