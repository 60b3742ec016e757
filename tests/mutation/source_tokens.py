"""The tokens of a C++ source, with their places, and the brackets among them. It holds for sources that clang-format has
set: a comparison has a space on both sides, a template's bracket has none."""
import bisect
import dataclasses
import re

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<string>(?:u8|[uUL])?R"(?P<fence>[^()\\\s]*)\(.*?\)(?P=fence)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|[^\s\w])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)
CLOSERS = {"(": ")", "[": "]", "{": "}"}


@dataclasses.dataclass
class Token:
    kind: str  # string, number, word or sign
    text: str
    start: int
    end: int
    pair: int = -1  # of a bracket: the index of its other one
    spaced: bool = False  # white space on both sides


class Source:
    """tokens: without comments and directives."""

    def __init__(self, text):
        self.text = text
        self._line_starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.tokens = []
        for match in TOKEN.finditer(text):
            if match.lastgroup in ("comment", "directive"):
                continue
            kind = "string" if match["string"] is not None else match.lastgroup
            start, end = match.span()
            spaced = text[start - 1:start].isspace() and text[end:end + 1].isspace()
            self.tokens.append(Token(kind, match[0], start, end, spaced=spaced))
        opened = []
        for index, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in CLOSERS:
                opened.append(index)
            elif token.text in CLOSERS.values():
                if not opened or CLOSERS[self.tokens[opened[-1]].text] != token.text:
                    raise ValueError(f"line {self.line_of(token.start)}: {token.text} closes nothing")
                token.pair = opened.pop()
                self.tokens[token.pair].pair = index
        if opened:
            raise ValueError(f"line {self.line_of(self.tokens[opened[-1]].start)}: nothing closes it")

    def line_of(self, position):
        """From 1."""
        return bisect.bisect_right(self._line_starts, position)

    def column_of(self, position):
        return position - self._line_starts[self.line_of(position) - 1] + 1

    def lines_around(self, start, end):
        """Where the lines with text[start:end] begin and end."""
        behind = self.text.find("\n", end)
        return self._line_starts[self.line_of(start) - 1], behind if behind >= 0 else len(self.text)

    def after(self, index, stops):
        """The first token from `index` on that is one of `stops` or closes a bracket opened before; brackets are passed."""
        while index < len(self.tokens):
            token = self.tokens[index]
            if token.kind != "string" and (token.text in stops or token.text in CLOSERS.values()):
                return index
            index = token.pair + 1 if token.kind == "sign" and token.text in CLOSERS else index + 1
        return index

    def before(self, index, stops):
        """The last token up to `index` that is one of `stops` or opens a bracket closed behind; -1: none."""
        while index >= 0:
            token = self.tokens[index]
            if token.kind != "string" and (token.text in stops or token.text in CLOSERS):
                return index
            index = token.pair - 1 if token.kind == "sign" and token.text in CLOSERS.values() else index - 1
        return index
