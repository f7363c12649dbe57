"""Prompts that a person chooses in a client: launch a campaign, and report on a week.

Source: MCP 2026-07-28 and 2025-11-25, Prompts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.values.exact_json import Json

from .method_results import InputRequired
from .request_metadata import RequestMetadata, RpcError
from .versions import INVALID_PARAMS

MAX_ARGUMENT_LENGTH = 2_000
Messages = Sequence[Mapping[str, Json]]
WritePrompt = Callable[[Mapping[str, str], RequestMetadata], Awaitable[Messages | InputRequired]]
"""Takes the arguments and the metadata of the request; returns the messages of the prompt."""


@frozen
class PromptArgument:
    """An argument of a prompt. ``choices``: values that a client offers for completion."""

    name: str
    description: str
    is_required: bool = False
    choices: Sequence[str] = ()


@frozen
class Prompt:
    """A prompt that a person chooses."""

    name: str
    description: str
    write: WritePrompt = field(repr=False)
    arguments: Sequence[PromptArgument] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the prompt as the list shows it."""
        arguments = [
            {"name": argument.name, "description": argument.description, "required": argument.is_required}
            for argument in self.arguments
        ]
        return {"name": self.name, "description": self.description, "arguments": arguments}

    def check_arguments(self, values: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the arguments without empty ones. Raises RpcError for unknown, missing and malformed arguments."""
        names = [argument.name for argument in self.arguments]
        unknown = [name for name in values if name not in names]
        if unknown:
            raise RpcError(INVALID_PARAMS, f"Unknown argument; the arguments of {self.name} are {', '.join(names)}.")
        for name, value in values.items():
            if not isinstance(value, str) or len(value) > MAX_ARGUMENT_LENGTH:
                raise RpcError(INVALID_PARAMS, f"{name} must be text of at most {MAX_ARGUMENT_LENGTH} characters.")
        present = {name: value.strip() for name, value in values.items() if value.strip()}
        missing = [
            argument.name for argument in self.arguments if argument.is_required and argument.name not in present
        ]
        if missing:
            raise RpcError(INVALID_PARAMS, f"{self.name} needs the argument {' and '.join(missing)}.")
        return present


def make_text_message(text: str) -> dict[str, Json]:
    """Make a message of the user."""
    return {"role": "user", "content": {"type": "text", "text": text}}


LAUNCH_TEXT = """Launch an advertising campaign with adsunify.
{wishes}
1. Call account{network} and let me choose the account if there are several.
2. Call call_tool with operationId get_workflows, and ask me for every required input that I have not given: the goal, \
the budget, the dates, the countries, the texts, the link and the pictures. Never invent an amount of money.
3. Call call_tool with operationId post_validate_campaign, and correct the brief until it is valid.
4. Call call_tool with operationId post_create and an idempotencyKey. Show me the plan, what it can spend, and the \
reviewUrl. Nothing is written yet.
5. Call execute only after I have agreed to this plan. The campaign is created paused.
6. Call call_tool with operationId post_activate, show me that plan too, and execute it after I have agreed."""
REPORT_TEXT = """Report on my advertising of the last seven full days, compared with the seven days before.
{wishes}
1. Call account for the accounts{choice}.
2. Read the figures of each account for both weeks: call_tool with operationId get_account_insights; search_tools \
shows its parameters.
3. Show spend, impressions, clicks and conversions of each account in both weeks, and the change in percent. State the \
currency and the time zone of every amount.
4. Add amounts up for each currency. Do not add conversions of different networks up: each network counts its own.
5. Name the three largest changes and what may have caused them. State where figures are missing or not final.
Change nothing."""


def _list_wishes(arguments: Mapping[str, str]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in arguments.items())


async def _write_launch(arguments: Mapping[str, str], context: RequestMetadata) -> Messages:
    network = arguments.get("network")
    place = "" if network is None else f" with network {network}"
    return [make_text_message(LAUNCH_TEXT.format(wishes=_list_wishes(arguments), network=place))]


async def _write_report(arguments: Mapping[str, str], context: RequestMetadata) -> Messages:
    choice = "" if "account" not in arguments else ", and choose the one that I named"
    return [make_text_message(REPORT_TEXT.format(wishes=_list_wishes(arguments), choice=choice))]


PROMPTS: Mapping[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "launch_campaign",
            "Prepare a campaign from a few wishes, review it with me, and launch it after my approval.",
            _write_launch,
            (
                PromptArgument("network", "The ad network.", is_required=True, choices=tuple(ADAPTER_PACKAGES)),
                PromptArgument("goal", "What the campaign should achieve, in your words."),
                PromptArgument("budget", "The budget with its currency, such as 20 EUR a day."),
                PromptArgument("description", "What is advertised, to whom, and from when to when."),
            ),
        ),
        Prompt(
            "weekly_report",
            "Report on the last seven full days of my advertising, compared with the seven days before.",
            _write_report,
            (PromptArgument("account", "Only this account, by its name or id."),),
        ),
    )
}
