"""An outer step in Python: the process that `longhaul check` and longhaul-train start beside them
(docs/howto/method-in-python.md). It reads requests as JSON lines from descriptor 0 and answers each with one line on
descriptor 1; {"error": {"line", "found", "allowed"}} says what is wrong in the user's file. Tables are numpy views of
memory that it shares with longhaul-train.
"""
import ast
import ctypes
import inspect
import json
import math
import mmap
import os
import signal
import sys
import traceback

import numpy


class Wrong(Exception):
    def __init__(self, line, found, allowed=""):
        super().__init__(found)
        found = " ".join(found.split()).encode("utf-8", "backslashreplace").decode()  # one line, without half characters
        self.answer = {"line": line, "found": found, "allowed": allowed}


class Step:
    def __init__(self, file):
        self.file, self.space = file, {"__name__": "longhaul_method", "__file__": file}
        sys.path.insert(0, os.path.dirname(file))
        with open(file, encoding="utf-8") as text:
            source = text.read()
        self.guarded(lambda: exec(compile(source, file, "exec"), self.space))
        self.step = self.space.get("step")
        if not inspect.isfunction(self.step):
            raise Wrong(1, "there is no function step", "def step(theta, phi, ..., *, outer_lr=0.7)")
        self.line = self.step.__code__.co_firstlineno
        self.lines = {target.id: node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assign)
                      for target in node.targets if isinstance(target, ast.Name)}
        self.reads, self.parameters = [], {}
        for name, argument in inspect.signature(self.step).parameters.items():
            if argument.kind == argument.POSITIONAL_OR_KEYWORD and argument.default is argument.empty:
                self.reads.append(name)
            elif argument.kind == argument.KEYWORD_ONLY:
                self.parameters[name] = None if argument.default is argument.empty else argument.default
                if not isinstance(self.parameters[name], (int, float, str, type(None))):
                    raise Wrong(self.line, f"the default of {name} is {self.parameters[name]!r}", "a number, a text, True or False")
            else:
                raise Wrong(self.line, f"step has the argument {argument}", "tables by name, then * and parameters")

    def guarded(self, work):
        """work(), of the user's code: what it raises is said of its last line in the file."""
        try:
            return work()
        except SyntaxError as error:
            raise Wrong(error.lineno or 1, f"SyntaxError: {error.msg}") from error
        except (Exception, SystemExit) as error:
            lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.file]
            raise Wrong(lines[-1] if lines else 1, f"{type(error).__name__}: {error}") from error

    def declared(self, name, fallback):
        value = self.space.get(name, fallback)
        texts = isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value)
        if not (texts if isinstance(fallback, list) else isinstance(value, type(fallback))):
            allowed = {list: "a list of names", str: "a text", bool: "True or False"}[type(fallback)]
            raise Wrong(self.lines.get(name, 1), f"{name} is {value!r}", allowed)
        return list(value) if texts else value

    def description(self):
        like, among = self.declared("like", ""), self.space.get("among")
        if bool(like) == bool(among):
            raise Wrong(1, "like and among are both there" if like else "like is missing",
                        'like = "noloco", the method whose plan is taken, or among = "all"')
        for name in ("inner_steps",) if among else ("inner_steps", "every", "codec"):
            if name in self.space:
                raise Wrong(self.lines.get(name, 1), f"{name} is not read here",
                            "every" if among else "inner_steps and codec in the scenario, as of every method")
        said = {"like": like, "keeps": self.declared("keeps", []), "sends": self.declared("sends", []),
                "columnwise": self.declared("columnwise", False), "reads": self.reads, "parameters": self.parameters,
                "line": {**self.lines, "step": self.line}}
        if among:
            members = {"all": 0, "pairs": 2}.get(among, among)
            if type(members) is not int or members < 0 or members == 1:
                raise Wrong(self.lines.get("among", 1), f"among is {among!r}", '"all", "pairs" or the members of a group, 2 or more')
            every = self.space.get("every", 1)
            if type(every) is not int or every < 1:
                raise Wrong(self.lines.get("every", 1), f"every is {every!r}", "inner steps between two outer ones, 1 or more")
            if not said["sends"]:
                raise Wrong(1, "sends is missing", 'sends = ["delta"], what travels')
            said.update({name: self.space[name] for name in ("every", "codec") if name in self.space}, among=members)
        return said

    def call(self, arrays, parameters):
        named = [arrays[name] for name in self.reads]
        self.guarded(lambda: self.step(*named, **parameters))

    def tried(self, tables, parameters, sizes, is_of_all):
        """Two rounds of a group of each size on a tensor of 2 x 3: steps fail here rather than in a training. `is_of_all`: the
        group is all replicas, whose kept tables may be alike. Answers with the arguments sent_X of which each member's own row
        seems to count alone."""
        own_alone = [name for name in self.reads if name.startswith("sent_")]
        for members in sizes:
            own_alone = self.tried_with(members, own_alone, tables, parameters, is_of_all)
        return {"own_alone": own_alone}

    def tried_with(self, members, own_alone, tables, parameters, is_of_all):
        random = numpy.random.default_rng(1)

        def drawn(rows=members):
            return random.normal(size=(rows, 6)).astype(numpy.float32)

        own = {name: numpy.zeros((members, 6), numpy.float32) for name in tables}
        if "phi" in own:
            own["phi"][:] = drawn(1) if is_of_all else drawn()
        rounds = []
        for number in (1, 2):
            if "theta" in own:
                own["theta"] += drawn()
            came = {"loss": numpy.linspace(2, 3, members, dtype=numpy.float32)[:, None], "round": number, "shape": (2, 3)}
            for name in self.reads:
                if name not in own and name not in came:
                    came[name] = drawn(1) if name.startswith("mean_") else drawn()
                    came[name].flags.writeable = False
            began = {name: table.copy() for name, table in own.items()}
            with numpy.errstate(all="ignore"):
                self.call({**own, **came}, parameters)
            rounds.append((began, came, {name: table.copy() for name, table in own.items()}))
        same = [name for name in own if all(numpy.array_equal(began[name], ended[name]) for began, _, ended in rounds)]
        for name in same:
            if name in self.reads and name in self.lines:
                raise Wrong(self.lines[name], f"{name} = ... makes a new array, and the table stays as it was",
                            f"{name}[:] = ..., in place")
        if len(same) == len(own):
            raise Wrong(self.line, "the step leaves all tables as they were", "theta[:] = ..., in place")
        if "theta" in own and numpy.isnan(own["theta"]).all():
            raise Wrong(self.line, "all numbers of theta are NaN after two rounds", "finite numbers")
        return self.check_rows(rounds, own_alone, parameters, is_of_all) if members > 1 else own_alone

    def check_rows(self, rounds, own_alone, parameters, is_of_all):
        """What a member knows of the others has travelled: neither a table nor own_X may depend on another member's row."""
        def ended(began, came, name="", row=0, factor=1):
            tables = {**{one: table.copy() for one, table in began.items()}, **came}
            if name:
                tables[name] = numpy.array(tables[name])
                tables[name][row] = factor * tables[name][row] + factor
                tables[name].flags.writeable = name in began
            self.call(tables, parameters)
            return tables

        def spread(began, came, expected, name):
            """The row of another member that a row of `name` changes, and in which table."""
            for row in range(min(len(expected["theta"]), 8)):
                for factor in (-10, 10):
                    try:
                        found = ended(began, came, name, row, factor)
                    except Wrong:  # with numbers that it may never see
                        continue
                    for table in expected:
                        alike = numpy.isclose(found[table], expected[table], 1e-4, 1e-5, equal_nan=True)
                        if not numpy.delete(alike, row, 0).all():
                            return table
            return None

        with numpy.errstate(all="ignore"):
            for began, came, expected in rounds:
                again = ended(began, came)
                if any(not numpy.array_equal(again[name], table, equal_nan=True) for name, table in expected.items()):
                    return []  # it draws, or keeps something in a global: nothing is known
            for began, came, expected in rounds:
                for name in self.reads:
                    alike = is_of_all and name != "theta" and name in began and \
                        all((kept == kept[:1]).all() for kept in (began[name], expected[name]))
                    if alike or not (name in began or name.startswith("own_")):
                        continue
                    table = spread(began, came, expected, name)
                    if table:
                        tensor = name[4:] if name.startswith("own_") else {"theta": "weights"}.get(name, name)
                        raise Wrong(self.line, f"{name} of one member changes {table} of another, and does not travel",
                                    f"each row of {name} for its own member; what others know travels: sent_{tensor}, or mean_{tensor}")
                own_alone = [name for name in own_alone if not spread(began, came, expected, name)]
        return own_alone

    def open(self, tables, arrived, cells, replicas, columns, parameters, others):
        def table(descriptor, *shape):
            return numpy.frombuffer(mmap.mmap(descriptor, 4 * math.prod(shape)), numpy.float32).reshape(shape)

        self.own = {name: table(descriptor, replicas, columns) for name, descriptor in tables.items()}
        self.arrived, self.values = {name: table(descriptor, cells) for name, descriptor in arrived[0].items()}, parameters
        for array in self.arrived.values():
            array.flags.writeable = False
        for number, descriptor in enumerate(others, 1):  # processes: threads wait for each other's calls of numpy
            if os.fork() == 0:
                for later in others[number:]:
                    os.close(later)
                self.open(tables, arrived[number:], cells, replicas, columns, parameters, [])
                serve([self], os.fdopen(descriptor, "r"), os.fdopen(os.dup(descriptor), "w"))
                os._exit(0)
            os.close(descriptor)
        return {}

    def take(self, members, piece, shape, round, losses):
        begin, end = piece
        stride = members[1] - members[0] if len(members) > 1 else 1
        regular = members == list(range(members[0], members[-1] + 1, stride))
        rows = slice(members[0], members[-1] + 1, stride) if regular else numpy.array(members)
        arrays = {name: table[rows, begin:end] for name, table in self.own.items()}
        for name, array in self.arrived.items():
            count = 1 if name.startswith("mean_") else len(members)
            arrays[name] = array[:count * (end - begin)].reshape(count, end - begin)
        self.call(dict(arrays, loss=numpy.float32(losses)[:, None], round=round, shape=tuple(shape)), self.values)
        self.check_finite(arrays, round)
        if not regular:  # what was selected row by row is a copy
            for name, table in self.own.items():
                table[rows, begin:end] = arrays[name]
        return {}


    def check_finite(self, arrays, round):
        """A step that makes NaN of finite numbers is wrong; one that gets them tells of a training that diverges."""
        for name in ("theta", "phi"):
            with numpy.errstate(all="ignore"):
                if name not in self.own or numpy.isfinite(arrays[name].sum()) or numpy.isfinite(arrays[name]).all():
                    continue
            if all(numpy.isfinite(array).all() for came, array in arrays.items() if came in self.arrived):
                count = arrays[name].size - numpy.isfinite(arrays[name]).sum()
                raise Wrong(self.line, f"{count} of {arrays[name].size} numbers of {name} are NaN or infinite after round {round}, and "
                            "all that came was finite", "finite numbers")


def answer(step, request):
    if "file" in request:
        step.append(Step(request["file"]))
        return step[-1].description()
    if "tables" in request:
        return step[-1].open(**request)
    return step[-1].take(**request) if "piece" in request else step[-1].tried(**request["try"])


def serve(step, requests, answers):
    libc = ctypes.CDLL(None)
    libc.prctl(1, int(signal.SIGKILL))  # with its parent
    libc.mallopt(-3, 1 << 25)  # M_MMAP_THRESHOLD: numpy's temporaries keep their pages
    libc.mallopt(-1, 1 << 28)  # M_TRIM_THRESHOLD
    for line in requests:
        try:
            said = answer(step, json.loads(line))
        except Wrong as wrong:
            said = {"error": wrong.answer}
        try:
            print(json.dumps(said), file=answers, flush=True)
        except BrokenPipeError:
            os._exit(1)  # the program has stopped waiting, and has said so


def main():
    requests, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the user's file prints
    serve([], requests, answers)


if __name__ == "__main__":
    main()
