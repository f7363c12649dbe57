"""Commands and choices whose errors say what was probably meant."""

from __future__ import annotations

from typing import Any

import click


def suggest(text: object, choices: list[str]) -> str:
    """Return a space and a sentence that names the most similar choice; empty if no choice is similar."""
    from adsunify.models.error_messages import find_similar  # pydantic is slow to import

    similar = find_similar(str(text).lower(), choices)
    return "" if similar is None else f" Did you mean {similar}?"


class Choice(click.Choice[str]):
    """A fixed set of texts."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Describe the accepted texts, and the one that was probably meant."""
        return super().get_invalid_choice_message(value, ctx) + suggest(value, list(self.choices))


class CommandGroup(click.Group):
    """A command with subcommands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the arguments. The error for an unknown name lists the commands."""
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"Unknown command {args[0]}.{suggest(args[0], names)} The commands are {', '.join(names)}.")
        return super().resolve_command(ctx, args)
