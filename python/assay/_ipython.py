"""%load_ext assay: %assay COMMAND runs the program, %assay OPERATION VARIANT... measures functions.

    %assay softmax eager fused temperature=hot
    %assay show latest
"""

import ast

from .errors import Error
from .operation import Operation
from .runs import _program, run


def _value(text):
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def register(shell):
    def assay(line):
        words, names = line.split(), shell.user_ns
        if not words or not isinstance(names.get(words[0]), Operation):
            print(_program(words or ["help"], quiet=False)[1], end="")
            return None
        variants = [word for word in words[1:] if "=" not in word]
        for unknown in set(variants) - set(names):
            raise Error(f"there is no {unknown} in this notebook")
        options = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        return run(names[words[0]], [names[name] for name in variants],
                   **{name: _value(text) for name, text in options.items()})

    shell.register_magic_function(assay, "line", "assay")
