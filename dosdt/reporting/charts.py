"""Small charts as SVG, in the colours of the page around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from html import escape
from math import ceil, floor, log10

from dosdt.reporting.path_data import PathPoint
from dosdt.search_record import Step
from dosdt.tree import Tree

WIDTH, HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 86, 14, 44
Scale = Callable[[float], float]


def trace_chart(trace: Sequence[Step]) -> str:
    """Return the course of a search: the best objective from above, the bound from below."""
    seconds = [max(step.seconds, 1e-6) for step in trace]
    best = [_float(step.incumbent) for step in trace]
    bound = [_float(step.lower_bound) for step in trace]
    logarithmic = seconds[-1] > 50 * seconds[0]
    x = _log_scale(seconds[0], seconds[-1]) if logarithmic else _scale(0.0, seconds[-1], _LEFT, WIDTH - _RIGHT)
    low, high = _room(min(bound), max(best))
    y = _scale(low, high, HEIGHT - _BOTTOM, _TOP)
    ticks = _decades(seconds[0], seconds[-1]) if logarithmic else _ticks(0.0, seconds[-1])
    parts = [_axes(x, y, ticks, _ticks(low, high), f"seconds{', logarithmic' if logarithmic else ''}", "objective")]
    ends = _apart(y(best[-1]), y(bound[-1]))
    for name, values, end in (("best tree", best, ends[0]), ("bound", bound, ends[1])):
        path = f"M{x(seconds[0]):.1f} {y(values[0]):.1f}"
        for at, value in zip(seconds[1:], values[1:], strict=True):
            path += f"H{x(at):.1f}V{y(value):.1f}"
        kind = "best" if values is best else "bound"
        parts.append(f'<path class="line {kind}" d="{path}"/>')
        parts.append(f'<text class="{kind}" x="{WIDTH - _RIGHT + 8}" y="{end + 4:.1f}">{name}</text>')
    words = f"Objective of the best tree and lower bound over {seconds[-1]:.3g} seconds"
    return _chart(words, parts)


def path_chart(points: Sequence[PathPoint], tree: Tree) -> str:
    """Return errors over leaves of the trees that are optimal for some λ; `tree` stands out."""
    xs, ys = [point.leaves for point in points], [_float(point.errors) for point in points]
    x = _scale(min(xs) - 0.5, max(xs) + 0.5, _LEFT, WIDTH - _RIGHT)
    low, high = _room(0.0, max(ys))
    y = _scale(max(low, 0.0), high, HEIGHT - _BOTTOM, _TOP)
    ticks = [tick for tick in _ticks(min(xs), max(xs)) if tick == int(tick)]
    parts = [_axes(x, y, ticks or [min(xs)], _ticks(0.0, high), "leaves", "errors in training")]
    parts.append(
        '<path class="line best" d="M'
        + "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in zip(xs, ys, strict=True))
        + '"/>'
    )
    for point, errors in zip(points, ys, strict=True):
        own = point.is_of(tree)
        leaves = "1 leaf" if point.leaves == 1 else f"{point.leaves} leaves"
        title = f"{leaves}, {point.errors} errors: λ from {_short(point.low)} to {_short(point.high)}"
        parts.append(
            f'<circle class="{"own" if own else "dot"}" cx="{x(point.leaves):.1f}" cy="{y(errors):.1f}" '
            f'r="{7 if own else 4}"><title>{escape(title)}</title></circle>'
        )
        if own:
            parts.append(
                f'<text class="bound" x="{x(point.leaves) + 11:.1f}" y="{y(errors) - 8:.1f}">this tree</text>'
            )
    return _chart("Errors in training over leaves, for every λ", parts)


def sparkline(bars: Sequence[int]) -> str:
    """Return a little histogram; it only repeats what words say, so screen readers pass it over."""
    width, height, most = 96, 22, max(bars, default=0)
    if not most:
        return ""
    step = width / len(bars)
    rects = "".join(
        f'<rect x="{k * step:.1f}" y="{height - height * bar / most:.1f}" width="{max(step - 1, 1):.1f}" '
        f'height="{height * bar / most:.1f}"/>'
        for k, bar in enumerate(bars)
    )
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg class="spark" {size} aria-hidden="true">{rects}</svg>'


def _chart(words: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(words)}">'
        f"{''.join(parts)}</svg>"
    )


def _axes(x: Scale, y: Scale, xs: Sequence[float], ys: Sequence[float], x_name: str, y_name: str) -> str:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    parts = [f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>']
    for tick in xs:
        parts.append(f'<text x="{x(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<path class="axis" d="M{x(tick):.1f} {bottom}v4"/>')
    for tick in ys:
        parts.append(f'<text x="{_LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
        parts.append(f'<path class="grid" d="M{_LEFT} {y(tick):.1f}H{right}"/>')
    parts.append(f'<text x="{(_LEFT + right) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{x_name}</text>')
    middle = (_TOP + bottom) / 2
    parts.append(f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{y_name}</text>')
    return "".join(parts)


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    return lambda value: start + (value - low) / ((high - low) or 1.0) * (end - start)


def _log_scale(low: float, high: float) -> Scale:
    inner = _scale(log10(low), log10(high), _LEFT, WIDTH - _RIGHT)
    return lambda value: inner(log10(value))


def _room(low: float, high: float) -> tuple[float, float]:
    """Return limits a little beyond what is drawn."""
    spare = 0.06 * ((high - low) or abs(high) or 1.0)
    return (low - spare if low - spare > 0 or low < 0 else 0.0), high + spare


def _ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return a few round numbers between two."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    unit = 10.0 ** floor(log10(raw))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw * 0.999)
    return [round(k * step, 12) for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def _decades(low: float, high: float) -> list[float]:
    return [10.0**k for k in range(ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9) + 1)]


def _apart(upper: float, lower: float, least: float = 15.0) -> tuple[float, float]:
    """Return two heights, moved apart if texts there would overlap."""
    push = max(least - (lower - upper), 0.0) / 2
    return upper - push, lower + push


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return 1.7e308


def _short(value: Fraction | None) -> str:
    return "∞" if value is None else f"{_float(value):.4g}"
