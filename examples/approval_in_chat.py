"""Let a person approve a campaign in a chat before it is created.

The script prepares the campaign and posts its plan, its warnings and the address of its review. It executes exactly
that plan, and only after the answer ``approve`` with the first characters of the plan's digest: an answer to an older
message approves nothing. Every other answer cancels the operation.

Needs: a connected account; a brief in a file. ``chat`` is a function that posts a message and returns the answer of the
person. The function here asks in the terminal; replace it with a function of your chat that checks who answers.
Prints: what was created, or why nothing was.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from adsunify import Ads, Forbidden, Operation, OperationError, read_brief

Chat = Callable[[str], str]


def ask_in_terminal(message: str) -> str:
    """Show a message in the terminal and return the answer."""
    print(message)
    return input("> ")


def write_message(operation: Operation, word: str) -> str:
    """Write the message that asks for an approval: what is done, what it risks, and where to look at it."""
    lines = [f"New campaign on {operation.network} (risk: {operation.risk}):"]
    lines += [f"- {step.does}" for step in operation.plan.steps]
    lines += [f"Warning: {warning}" for warning in operation.warnings]
    lines += [f"Review: {operation.review_url}", f"Answer `{word}` before {operation.expires_at:%H:%M} UTC."]
    return "\n".join(lines)


def main(client: Ads, account_id: str, brief_file: Path, chat: Chat) -> int:
    """Prepare the campaign, ask, and execute it after the approval. Returns the exit code."""
    brief = read_brief(brief_file.read_bytes())
    operation = client.campaigns.create(account_id, brief)
    word = f"approve {operation.plan.digest[:6]}"
    if chat(write_message(operation, word)).strip() != word:
        client.operations.cancel(operation)
        print("Not approved: the operation is cancelled, and nothing was written.")
        return 1
    try:
        done = client.operations.run(operation, confirmed=True)
    except Forbidden as error:  # the workspace has the rule that a signed-in person must execute
        print(f"{error} {operation.review_url}")
        return 1
    except OperationError as error:
        print(f"{error} Outcome: {error.outcome}. Applied steps: {', '.join(error.applied_steps) or 'none'}.")
        return 1
    print(f"Created campaign {done.created.campaign_id} with the ads {', '.join(done.created.ad_ids)}, all paused.")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("account", help="the id of the account, as `adsunify accounts` prints it")
    parser.add_argument("brief", type=Path, help="a file such as briefs/meta-page_link_ad-traffic-daily.json")
    options = parser.parse_args()
    with Ads.from_environment() as ads:
        raise SystemExit(main(ads, options.account, options.brief, ask_in_terminal))
