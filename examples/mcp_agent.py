"""Drive adsunify as an agent does: MCP over standard input and output, with a person between preparing and executing.

The script starts ``adsunify mcp``, lists its tools, prepares a new status of an entity, shows the plan, and executes it
after the answer ``yes``. A language model would choose the tool and its arguments from the list; the question to the
person stays with the program, because a model must not answer it.

Needs: the extra ``cli``; ``ADSUNIFY_DATABASE_URL``, or ``ADSUNIFY_SERVER`` and ``ADSUNIFY_TOKEN``.
Prints: the tools, the plan, the address of the review, and the status of the operation.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from itertools import count
from subprocess import PIPE, Popen
from typing import Any


class McpServer:
    """A running MCP server: ``send`` writes a line to its standard input, ``receive`` reads one of its output."""

    def __init__(self, send: Callable[[str], object], receive: Callable[[], str]) -> None:
        self._send, self._receive, self._ids = send, receive, count(1)

    def notify(self, **message: Any) -> None:
        """Send a message, without waiting for an answer."""
        self._send(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def request(self, method: str, **params: Any) -> Mapping[str, Any]:
        """Send a request and return its result. Raises RuntimeError if the response has no result."""
        self.notify(id=next(self._ids), method=method, params=params)
        answer: dict[str, Any] = json.loads(self._receive() or '{"error": "The MCP server has ended."}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return dict(answer["result"])

    def call_tool(self, name: str, **arguments: Any) -> Any:
        """Call a tool and return its data. Raises RuntimeError with a text that says whether anything was written."""
        result = self.request("tools/call", name=name, arguments=arguments)
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result["structuredContent"]["data"]


@contextmanager
def start_server() -> Generator[McpServer, None, None]:
    """Start an MCP server and agree on the version of the protocol. It ends with its standard input."""
    with Popen([sys.executable, "-m", "adsunify", "mcp"], stdin=PIPE, stdout=PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None and process.stdout is not None
        server = McpServer(process.stdin.write, process.stdout.readline)
        client = {"name": "example", "version": "1.0"}
        server.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        server.notify(method="notifications/initialized")
        yield server


def main(account_id: str, kind: str, entity_id: str, status: str, ask: Callable[[str], str] = input) -> int:
    """Prepare the status, ask the person, and execute. Returns the exit code."""
    with start_server() as server:
        print("Tools:", *(tool["name"] for tool in server.request("tools/list")["tools"]))
        mutation = {"action": "status", "kind": kind, "entityId": entity_id, "status": status}
        try:
            [operation] = server.call_tool("prepare", accountId=account_id, mutation=mutation)["operations"]
            print(*(step["does"] for step in operation["plan"]["steps"]), sep="\n")
            if ask(f"Risk: {operation['risk']}. Review: {operation['reviewUrl']}\nExecute? ").strip() != "yes":
                print("Nothing was written.")
                return 1
            while True:
                operation = server.call_tool("execute", operationId=operation["id"], confirmed=True)
                if operation.get("nextAction") != "execute":
                    break
                time.sleep(operation.get("retryAfterMs", 100) / 1000)
        except RuntimeError as error:
            print(error)
            return 1
    print(operation["status"])
    return 0 if operation["status"] == "succeeded" else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("account", help="the id of the account, as `adsunify accounts` prints it")
    parser.add_argument("kind", choices=("campaign", "adGroup", "ad"))
    parser.add_argument("entity", help="the id of the entity, as the network gives it")
    parser.add_argument("status", choices=("active", "paused"))
    options = parser.parse_args()
    raise SystemExit(main(options.account, options.kind, options.entity, options.status))
