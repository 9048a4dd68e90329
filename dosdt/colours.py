"""Colours of classes: a ramp from dark blue to light yellow, which greyscale and colour blindness leave in order."""

from __future__ import annotations

_RAMP = ((0x1B, 0x3A, 0x63), (0x3D, 0x6F, 0xA3), (0x9C, 0xA9, 0x9F), (0xFF, 0xD6, 0x6B))
INK, PAPER = "#000000", "#ffffff"  # on any colour one of them has a contrast of 4.5


def class_colours(count: int) -> tuple[str, ...]:
    """Return one colour for each class, the first the darkest."""
    if count == 2:
        return _at(0.28), _at(0.93)
    return tuple(_at(k / max(count - 1, 1)) for k in range(count))


def ink_on(colour: str) -> str:
    """Return the colour of text that reads better on `colour`."""
    return max((INK, PAPER), key=lambda ink: contrast(ink, colour))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21, as the Web Content Accessibility Guidelines define it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb``, 0 to 1."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _at(place: float) -> str:
    """Return the colour at a place of the ramp, 0 to 1."""
    step = min(int(place * (len(_RAMP) - 1)), len(_RAMP) - 2)
    part = place * (len(_RAMP) - 1) - step
    mixed = (round(a + (b - a) * part) for a, b in zip(_RAMP[step], _RAMP[step + 1], strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)
