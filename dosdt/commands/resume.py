"""``dosdt resume``: on with a search from its checkpoint."""

from __future__ import annotations

from dosdt import options
from dosdt.commands.groups import Limits, Output, Team


def resume(
    checkpoint: options.CheckpointArgument,
    *,
    limits: Limits,
    team: Team,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    output: Output,
) -> None:
    """Go on with a search from its checkpoint; the data are not needed."""
    from dosdt.resuming import resume as go_on

    output.check(checkpoint)
    classifier, target = go_on(
        checkpoint,
        certificate=output.certificate,
        checkpoint_seconds=checkpoint_seconds,
        log_file=output.log_file,
        verbose=output.verbose,
        **limits.named(),
        **team.named(),
    )
    output.give(classifier, target)
