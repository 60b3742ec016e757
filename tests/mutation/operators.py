"""The mutation operators. Names are those of DeMillo and Offutt's Mothra (King and Offutt, "A Fortran language system for
mutation-based software testing", 1991), and for C++'s short forms those of muJava (Ma, Offutt and Kwon, 2005):

  SDL   statement deletion: an expression, `return;`, `break;`, `continue;` or a throw
  ROR   relational operator replacement: the boundary moved, == with !=, or the opposite
  AOR   arithmetic operator replacement: + with -, * with /, and std::min with std::max, which Fortran has as functions
  ASRS  assignment operator replacement (short-cut): += with -=, *= with /=, |= with &=
  AORS  arithmetic operator replacement (short-cut): ++ with --, but in the header of a loop
  LCR   logical connector replacement: && with ||, or one of its two terms dropped (LEFTOP, RIGHTOP)
  UOI   unary operator insertion: the condition of if, while or ?: negated, or its negation dropped
  CRP   constant replacement: true with false, 0 with 1, any other number with one more
  CSR   constant replacement of what a function returns: `return E;` as `return {};`

Each mutant is one replacement in one file. Two that make the same text count once.
"""
import dataclasses

import source_tokens

NAMES = ["SDL", "ROR", "AOR", "ASRS", "AORS", "LCR", "UOI", "CRP", "CSR"]
ROR = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
AOR = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"}
ASRS = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|="}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="}
# Where a term of a condition begins and ends.
EDGES = {",", ";", "?", ":", "return", "co_return"} | ASSIGNMENTS
# What a statement begins with that deleting would not leave a program of, or that is no statement.
DECLARING = set("""alignas auto bool case catch char class const constexpr default do double else enum explicit extern float
    for friend goto if inline int long mutable namespace operator private protected public return short signed static
    static_assert struct switch template thread_local try typedef typename union unsigned using virtual void volatile
    while""".split())


@dataclasses.dataclass(frozen=True)
class Mutant:
    """text[start:end] of the file becomes `new`."""
    operator: str
    start: int
    end: int
    new: str


def mutants_of(source):
    """Of a Source, by place."""
    text = source.text
    found, texts = [], {hash(text)}
    for make in (_signs, _connectors, _conditions, _constants, _returns, _statements):
        for mutant in make(source):
            mutated = hash(text[:mutant.start] + mutant.new + text[mutant.end:])
            if mutated not in texts:
                texts.add(mutated)
                found.append(mutant)
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.new))


def _signs(source):
    tokens = source.tokens
    loops = _loop_headers(source)
    for index, token in enumerate(tokens[1:-1], 1):
        previous, following = tokens[index - 1], tokens[index + 1]
        if token.kind == "word" and token.text in ("min", "max") and previous.text == "::" and following.text in "(<":
            yield Mutant("AOR", token.start, token.end, "max" if token.text == "min" else "min")
        if token.kind != "sign" or previous.text in ("operator", "template"):
            continue
        if token.text in ("++", "--"):
            if not any(first <= index <= last for first, last in loops):
                yield Mutant("AORS", token.start, token.end, "--" if token.text == "++" else "++")
        if not token.spaced:
            continue
        for other in ROR.get(token.text, ()):
            yield Mutant("ROR", token.start, token.end, other)
        # Texts are joined by + alone.
        if token.text in AOR and "string" not in (previous.kind, following.kind):
            yield Mutant("AOR", token.start, token.end, AOR[token.text])
        if token.text in ASRS:
            yield Mutant("ASRS", token.start, token.end, ASRS[token.text])


def _loop_headers(source):
    return [(index + 1, source.tokens[index + 1].pair) for index, token in enumerate(source.tokens)
            if token.text == "for" and token.kind == "word"]


def _connectors(source):
    tokens = source.tokens
    for index, token in enumerate(tokens):
        if token.kind != "sign" or token.text not in ("&&", "||") or not token.spaced:
            continue
        yield Mutant("LCR", token.start, token.end, "||" if token.text == "&&" else "&&")
        edges = EDGES | ({"||", "&&"} if token.text == "&&" else {"||"})
        first, behind = source.before(index - 1, edges) + 1, source.after(index + 1, edges)
        if first < index and behind > index + 1:
            yield Mutant("LCR", tokens[first].start, tokens[index + 1].start, "")
            yield Mutant("LCR", tokens[index - 1].end, tokens[behind - 1].end, "")


def _conditions(source):
    tokens = source.tokens
    for index, token in enumerate(tokens):
        if token.kind == "word" and token.text in ("if", "while") and tokens[index + 1].text == "(":
            last = tokens[index + 1].pair
            first = index + 2
            while (semicolon := source.after(first, {";"})) < last:
                first = semicolon + 1
            if source.after(first, {"="}) == last:
                yield from _negated(source, first, last)
        elif token.kind == "sign" and token.text == "?":
            first = source.before(index - 1, EDGES | {"<<"}) + 1
            if first < index:
                yield from _negated(source, first, index)


def _negated(source, first, behind):
    """The condition of the tokens [first, behind)."""
    tokens = source.tokens
    start, end = tokens[first].start, tokens[behind - 1].end
    inside = {"==", "!=", "<", ">", "<=", ">=", "&&", "||"}
    signs, index = [], source.after(first, inside)
    while index < behind:
        if tokens[index].spaced:
            signs.append(tokens[index].text)
        index = source.after(index + 1, inside)
    if len(signs) == 1 and signs[0] in ROR:
        return  # ROR has its opposite
    if tokens[first].text == "!" and not signs:
        yield Mutant("UOI", start, tokens[first].end, "")
    else:
        yield Mutant("UOI", start, end, f"!({source.text[start:end]})")


def _constants(source):
    tokens = source.tokens
    for index, token in enumerate(tokens):
        previous = tokens[index - 1].text if index else ""
        if token.kind == "word" and token.text in ("true", "false"):
            yield Mutant("CRP", token.start, token.end, "false" if token.text == "true" else "true")
        elif token.kind == "number" and previous != "case" and (previous != "<" or tokens[index - 1].spaced):
            behind = tokens[index + 1].text if index + 1 < len(tokens) else ""
            is_pure = previous == "=" and behind == ";" and tokens[index - 2].text in (")", "const", "override", "noexcept")
            if not is_pure:
                other = {"0": "1", "1": "0", "0.": "1.", "1.": "0.", "0.0": "1.0", "1.0": "0.0"}.get(token.text)
                yield Mutant("CRP", token.start, token.end, other or f"({token.text} + 1)")


def _returns(source):
    tokens = source.tokens
    for index, token in enumerate(tokens):
        if token.kind != "word" or token.text != "return" or tokens[index + 1].text in (";", "{", "nullptr"):
            continue
        behind = source.after(index + 1, {";"})
        start, end = tokens[index + 1].start, tokens[behind - 1].end
        if source.text[start:end] not in ("true", "false", "0", "1", "*this"):
            yield Mutant("CSR", start, end, "{}")


def _statements(source):
    tokens = source.tokens
    for index, token in enumerate(tokens):
        if token.text != ";" or token.kind != "sign":
            continue
        opener = source.before(index - 1, set())
        if opener >= 0 and (tokens[opener].text != "{" or not _is_block(source, opener)):
            continue
        first = source.before(index - 1, {";"}) + 1
        first = _behind_block(source, max(first, opener + 1), index)
        first = _behind_headers(source, first)
        if opener >= 0 and first < index and _is_deletable(source, first, index):
            yield Mutant("SDL", tokens[first].start, token.end, ";")


def _behind_block(source, first, last):
    """`first`, or what follows the last block before `last` that a statement does not go beyond."""
    tokens = source.tokens
    index = first
    while index < last:
        if tokens[index].text in source_tokens.CLOSERS and tokens[index].kind == "sign":
            close = tokens[index].pair
            follows = tokens[close + 1]
            begins = follows.kind == "word" or follows.text in ("++", "--", "*", "(")
            if tokens[index].text == "{" and _is_block(source, index) and begins:
                first = close + 1
            index = close
        index += 1
    return first


def _behind_headers(source, first):
    """Behind `if (…)`, `for (…)`, `while (…)`, `else`, `do`, and labels."""
    tokens = source.tokens
    while True:
        text = tokens[first].text
        if text in ("else", "do"):
            first += 1
        elif text in ("if", "for", "while", "switch"):
            opener = first + 1 if tokens[first + 1].text == "(" else first + 2  # if constexpr
            first = tokens[opener].pair + 1
        elif text in ("case", "default"):
            first = source.after(first, {":"}) + 1
        else:
            return first


def _is_block(source, opener):
    """Whether `{` begins statements: not a class, a namespace or a list of values."""
    tokens = source.tokens
    previous = tokens[opener - 1]
    if opener == 0 or previous.text in (";", "{", "}", "else", "do", "try", "mutable", "noexcept", "override", "]"):
        return opener > 0
    start = source.before(opener - 1, {";", "{", "}"}) + 1
    words = {token.text for token in tokens[start:opener] if token.kind == "word"}
    if words & {"namespace", "class", "struct", "union", "enum"} and previous.text != ")":
        return False
    if previous.text == ")" or previous.text == "const" and tokens[opener - 2].text == ")":
        return True
    arrow = source.before(opener - 1, {"->", ";", "="})  # the result of a lambda
    return arrow > 0 and tokens[arrow].text == "->" and tokens[arrow - 1].text in (")", "mutable", "noexcept")


def _is_deletable(source, first, last):
    tokens = source.tokens
    text = tokens[first].text
    if text in ("break", "continue", "throw") or (text == "return" and first + 1 == last):
        return True
    if text in DECLARING or tokens[first].kind not in ("word", "sign"):
        return False
    # `Type name`, `Type& name`, `Type<...> name`: a declaration.
    index = first
    while index < last and tokens[index].text not in ASSIGNMENTS and tokens[index].text not in "({[":
        if index > first and tokens[index].kind == "word":
            before = tokens[index - 1]
            if before.kind == "word" and before.text not in ("delete", "new") or (
                    before.text in ("&", "*", ">", "&&") and index - 1 > first):
                return False
        index += 1
    return index > first or text == "("
