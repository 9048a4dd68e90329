"""A tree for people and for other programs: text, SVG, Graphviz, a Python function, a SQL ``CASE`` expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from keyword import iskeyword
from typing import Any

from dosdt.errors import InputError
from dosdt.rules import Rule
from dosdt.tree import Leaf, Split, Tree, plain
from dosdt.words import evidence, number, one_line

# How deep an export nests before it goes on in a flat form: Python reads 100 levels of indentation, people
# far fewer. SQL Server takes ten CASEs within each other.
MAX_NESTING = 25
MAX_SQL_NESTING = 10


def to_text(tree: Tree, *, regularization: Fraction | None = None) -> str:
    """Return the tree drawn with box characters, one node a line; `regularization` adds the objective below.

    What lies deeper than `MAX_NESTING` is drawn further down, under a number.
    """
    lines: list[str] = []
    parts = [0]  # roots of the drawings; the first is the whole tree, the others are reached by their number
    for part, root in enumerate(parts):
        if part:
            lines += ["", f"({part})"]
        # Each entry: node, what is drawn before it, what is drawn before its children, levels above it.
        waiting = [(root, "", "", 0)]
        while waiting:
            index, lead, indent, level = waiting.pop()
            node = tree.nodes[index]
            if isinstance(node, Leaf):
                lines.append(f"{lead}predict {one_line(str(tree.classes[node.label]))}   ({evidence(node)})")
            elif level == MAX_NESTING:
                lines.append(f"{lead}see ({len(parts)}) below")
                parts.append(index)
            else:
                lines.append(lead + one_line(str(node.rule)))
                waiting.append((node.no, f"{indent}└─ no: ", f"{indent}   ", level + 1))
                waiting.append((node.yes, f"{indent}├─ yes: ", f"{indent}│  ", level + 1))
    if regularization is not None:
        lines += ["", _objective(tree, regularization)]
    return "\n".join(lines) + "\n"


def to_svg(tree: Tree, *, class_names: Sequence[Any] | None = None, title: str | None = None) -> str:
    """Return the tree drawn as an SVG document, light or dark as the reader's screen is.

    Parameters
    ----------
    tree : Tree
    class_names : sequence of n_classes, optional
        Instead of `tree.classes`.
    title : str, optional
        What a screen reader calls the picture.
    """
    from dosdt.svg import tree_svg

    return tree_svg(tree, class_names=class_names, title=title)


def to_dot(tree: Tree) -> str:
    """Return the tree in Graphviz's DOT language."""
    lines = ["digraph tree {", '  node [shape=box, style="rounded", fontname="Helvetica"];']
    lines.append('  edge [fontname="Helvetica"];')
    for index, node in enumerate(tree.nodes):
        if isinstance(node, Leaf):
            label = f"{_dot(str(tree.classes[node.label]))}\\n{evidence(node)}"
            lines.append(f'  n{index} [label="{label}", style="rounded,filled", fillcolor="#e8eef7"];')
        else:
            lines.append(f'  n{index} [label="{_dot(str(node.rule))}"];')
            lines.append(f'  n{index} -> n{node.yes} [label="yes"];')
            lines.append(f'  n{index} -> n{node.no} [label="no"];')
    return "\n".join([*lines, "}"]) + "\n"


def to_python(tree: Tree, name: str = "predict") -> str:
    """Return the source of a function that needs nothing but Python 3.8: row (a mapping) to label."""
    if not name.isidentifier() or iskeyword(name):
        raise InputError(f"function name {name!r} is not a Python name; use letters, digits and _")
    lines = [
        f"def {name}(row):",
        '    """Return the class of a row that maps column names to values; what is missing answers no."""',
    ]

    def answer(leaf: Leaf) -> str:
        return f"return {plain(tree.classes[leaf.label])!r}  # {evidence(leaf)}"

    if tree.depth > MAX_NESTING:
        for tests, leaf in _decision_list(tree):
            condition = " and ".join(_python(rule, wanted) for rule, wanted in tests)
            lines.append(f"    if {condition}:\n        {answer(leaf)}" if tests else f"    {answer(leaf)}")
    else:
        lines += _nested(
            tree,
            split=lambda rule: f"if {_python(rule, True)}:",
            otherwise="else:",
            leaf=answer,
            level=1,
        )
    return "\n".join(lines) + "\n"


def to_sql(tree: Tree, *, column_alias: str | None = "prediction") -> str:
    """Return a SQL ``CASE`` expression over the original columns, named `column_alias` unless that is None.

    NULL answers no, as a missing value does in `Tree.predict`. Yes/no columns are compared with 1.
    """
    if isinstance(tree.nodes[0], Leaf):
        text = _literal(tree.classes[tree.nodes[0].label])
    elif tree.depth > MAX_SQL_NESTING:
        lines = ["CASE"]
        for tests, leaf in _decision_list(tree):
            condition = " AND ".join(_sql(rule, wanted) for rule, wanted in tests)
            label = _literal(tree.classes[leaf.label])
            lines.append(f"  WHEN {condition} THEN {label}" if tests else f"  ELSE {label}")
        text = "\n".join([*lines, "END"])
    else:
        # A NULL test is not true, so it goes to ELSE, which is the no side: nothing needs negating.
        lines = _nested(
            tree,
            split=lambda rule: f"CASE WHEN {_sql(rule, True)} THEN",
            otherwise="ELSE",
            leaf=lambda leaf: _literal(tree.classes[leaf.label]),
            level=0,
            end="END",
        )
        text = "\n".join(lines)
    return f"{text} AS {_identifier(column_alias)}" if column_alias is not None else text


def _nested(
    tree: Tree,
    *,
    split: Callable[[Rule], str],
    otherwise: str,
    leaf: Callable[[Leaf], str],
    level: int,
    end: str | None = None,
) -> list[str]:
    """Return the lines of a tree written as blocks within blocks."""
    lines: list[str] = []
    waiting: list[tuple[int | str, int]] = [(0, level)]  # a node, or a line that closes what came before
    while waiting:
        item, level = waiting.pop()
        node = tree.nodes[item] if isinstance(item, int) else item
        if isinstance(node, Split):
            lines.append("    " * level + split(node.rule))
            if end is not None:
                waiting.append((end, level))
            waiting += [(node.no, level + 1), (otherwise, level), (node.yes, level + 1)]
        else:
            lines.append("    " * level + (leaf(node) if isinstance(node, Leaf) else node))
    return lines


def _decision_list(tree: Tree) -> list[tuple[list[tuple[Rule, bool]], Leaf]]:
    """Return the leaves in an order in which the first whose tests all hold is the right one.

    At every split the side with fewer leaves comes first and states the answer that leads to it; the other
    side need not deny it, since every row that gave that answer has found its leaf by then. So a leaf states
    only the splits at which its side is the smaller one: at most log2(leaves), however deep it lies.
    """
    leaves = [1] * len(tree.nodes)
    for index in reversed(range(len(tree.nodes))):
        node = tree.nodes[index]
        if isinstance(node, Split):
            leaves[index] = leaves[node.yes] + leaves[node.no]
    found = []
    waiting: list[tuple[int, list[tuple[Rule, bool]]]] = [(0, [])]
    while waiting:
        index, tests = waiting.pop()
        node = tree.nodes[index]
        if isinstance(node, Leaf):
            found.append((tests, node))
            continue
        wanted = leaves[node.yes] <= leaves[node.no]
        small, large = (node.yes, node.no) if wanted else (node.no, node.yes)
        waiting.append((large, tests))
        waiting.append((small, [*tests, (node.rule, wanted)]))
    return found


def _python(rule: Rule, wanted: bool) -> str:
    value = f"row.get({rule.column!r})"
    if rule.kind == "is_missing":
        test = f"((value := {value}) is None or value != value)"  # only NaN differs from itself
    elif rule.kind == "at_most":
        test = f"(value := {value}) is not None and value <= {plain(rule.value)!r}"
    else:
        test = f"{value} == {1 if rule.kind == 'is_true' else plain(rule.value)!r}"
    return test if wanted else f"not ({test})"


def _sql(rule: Rule, wanted: bool) -> str:
    column = _identifier(rule.column)
    if rule.kind == "is_missing":
        return f"{column} IS NULL" if wanted else f"{column} IS NOT NULL"
    value = "1" if rule.kind == "is_true" else _literal(rule.value)
    yes, no = ("<=", ">") if rule.kind == "at_most" else ("=", "<>")
    # NULL answers no, and NOT (NULL <= 3) would not be true.
    return f"{column} {yes} {value}" if wanted else f"({column} {no} {value} OR {column} IS NULL)"


def _identifier(name: str) -> str:
    return '"' + _sql_text(name).replace('"', '""') + '"'


def _literal(value: Any) -> str:
    value = plain(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + _sql_text(value).replace("'", "''") + "'"
    return repr(value)


def _sql_text(text: str) -> str:
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise InputError(f"SQL cannot express {text!r}; rename it or choose another format")
    return text


def _dot(text: str) -> str:
    # Graphviz reads backslash escapes and HTML entities in labels.
    lines = (one_line(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n"))
    return "\\n".join(lines).replace("&", "&amp;")


def _objective(tree: Tree, regularization: Fraction) -> str:
    weight = sum((sum(leaf.class_weights, Fraction(0)) for leaf in tree.leaves), Fraction(0)) or Fraction(1)
    objective = tree.cost / weight + regularization * tree.n_leaves
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    loss = f"{number(tree.cost)}/{number(weight)}"
    return f"objective {number(objective)} = loss {loss} + {leaves} × {number(regularization)}"
