"""Writes the resource classes of the Python clients from the contract table.

``nox -s client`` runs it; ``tests/client/test_generated.py`` fails where a file is not as it would be written.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill, indent
from typing import Any, get_args, get_origin

from pydantic.alias_generators import to_snake

from adsunify import answers
from adsunify.answers import Insights, Shape
from adsunify.contract import ENDPOINTS, Endpoint
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service.dispatch import describe_endpoint

from .parameters import Parameter, read_parameters, takes_any_member
from .words import ERRORS, NAMESPACES, PARAMETERS

ROOT = Path(__file__).parents[3]
CLIENT = ROOT / "adsunify" / "client"
NETWORK_CODES = ROOT / "adsunify" / "values" / "network_codes.py"
WIDTH = 120
IMPORTS: Mapping[str, str] = {
    "Callable": "collections.abc",
    "Mapping": "collections.abc",
    "Sequence": "collections.abc",
    "date": "datetime",
    "datetime": "datetime",
    "Decimal": "decimal",
    "Literal": "typing",
    "EventName": "adsunify.events",
    "CampaignBrief": "adsunify.models.brief",
    "Creative": "adsunify.models.brief",
    "EditBody": "adsunify.models.edit",
    "EditTargeting": "adsunify.models.edit",
    "KeyScope": "adsunify.contract.requests",
    "AlertKind": "adsunify.models.alert",
    "AlertScope": "adsunify.models.alert",
    "LaunchAccount": "adsunify.models.launch",
    "GuardedAction": "adsunify.models.guardrail",
    "RuleScope": "adsunify.models.guardrail",
    "SpendLimits": "adsunify.models.guardrail",
    "SpendWindow": "adsunify.models.guardrail",
    "Kind": "adsunify.plans.records",
    "Json": "adsunify.values.exact_json",
    "NetworkCode": "adsunify.values.network_codes",
    "AsyncPages": "adsunify.client.pages",
    "Pages": "adsunify.client.pages",
    "OMITTED": "adsunify.client.inputs",
    "Omitted": "adsunify.client.inputs",
    "Status": "adsunify.contract.requests",
    "AsyncReport": "adsunify.client.reports",
    "Report": "adsunify.client.reports",
    "ReportedLevel": "adsunify.contract.requests",
    "check_progress": "adsunify.client.resource",
    "get_pause": "adsunify.client.resource",
    "WORKING_STATUSES": "adsunify.client.resource",
    "PollBackoff": "adsunify.client.resource",
    "AdsunifyError": "adsunify.errors",
    "BatchRun": "adsunify.client.batches",
} | dict.fromkeys(answers.__all__, "adsunify.answers")
"""Name in a generated file -> the module that it is imported from."""

WITHOUT_NETWORK = (("accounts", "get"), ("webhooks", "create"))
"""Methods that name an account and send no request to its network."""
FURTHER_ERRORS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("operations", "inspect"): ("OperationError",),
    ("operations", "undo"): ("ProviderError",),
    ("operations", "resume"): ("OperationError",),
    ("operations", "settle"): ("Conflict", "ProviderError", "OperationError"),
}
"""The errors of methods that do not follow from their endpoints."""

RUN = '''
    {define} run(
        self,
        operation: Operation | str,
        *,
        confirmed: Literal[True],
        allow_stale: bool = False,
        progress: Callable[[Operation], None] | None = None,
    ) -> Operation:
        """Write the prepared change, and execute it again while ``next_action`` is ``execute``.

        It waits where the network asks to wait, and calls :meth:`execute` again while ``next_action`` is ``execute``.
        Nothing is written twice.

        Args:
            operation: {operation}
            confirmed: {confirmed}
            allow_stale: {allow_stale}
            progress: called with the operation before each wait.

        Returns:
            The operation with its receipt. Its status is ``succeeded``, or ``running`` where another process executes
            it.

        Raises:
            InvalidInput: with all issues of the input.
            OperationError: {error}
                After ``unknown``, :meth:`inspect` and :meth:`resume` find out what was written and write the rest.
            Forbidden: the credential may not do this, or a person must approve (``approval_required``).
        """
        check_progress(progress)
        while True:
            current = {wait}self.execute(operation, confirmed=confirmed, allow_stale=allow_stale)
            if not current.can_continue:
                return current
            if progress is not None:
                progress(current)
            {wait}self._client._wait(get_pause(current))

    {define} run_many(
        self,
        operations: Sequence[Operation | str],
        *,
        confirmed: Literal[True],
        allow_stale: bool = False,
        progress: Callable[[Operation], None] | None = None,
    ) -> Batch:
        """Write several prepared changes, and continue each until it is finished or stopped, as :meth:`run` does.

        A failed operation does not stop the others, and it is not executed again. If a call to the server fails, all
        operations of that call have its error as their result. Nothing is written twice.

        Args:
            operations: any number of operations, or their ids.
            confirmed: {confirmed}
            allow_stale: {allow_stale}
            progress: called with each operation that is to be continued, before each wait.

        Returns:
            The last result of each operation, in the order of ``operations``: a BatchDone as :meth:`run` returns it, or
            a BatchFailed with an ``error``, whose ``outcome`` says what was written.

        Raises:
            InvalidInput: with all issues of the input.
            AdsunifyError: the first call failed, so that there is no result.
        """
        batch = BatchRun(operations, progress)
        pause: float | None = 0.0
        while pause is not None:
            for ids in batch.list_calls():
                try:
                    batch.add_results({wait}self.execute_many(ids, confirmed=confirmed, allow_stale=allow_stale))
                except AdsunifyError as error:
                    batch.add_error(ids, error)
            pause = batch.report_progress()
            if pause is not None:
                {wait}self._client._wait(pause)
        return batch.make_batch()
'''
WAIT = '''
    {define} wait(
        self, {name}: {model} | str, *, progress: Callable[[{model}], None] | None = None
    ) -> {model}:
        """Wait until it is prepared, or until its execution has ended.

        Both happen in the background, in the server or in this process. Nothing is written again.

        Args:
            {name}: {described}
            progress: called with its present state before each wait.

        Returns:
            Its last state. The status is neither ``preparing`` nor ``running``.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: {error}
        """
        check_progress(progress)
        backoff = PollBackoff()
        while True:
            current = {wait}self.get({name})
            if current.status not in WORKING_STATUSES:
                return current
            if progress is not None:
                progress(current)
            {wait}backoff.{look}()
'''
WAITING_RESOURCES = {"launches": ("launch", "Launch"), "change_sets": ("change_set", "ChangeSet")}
"""Resource with the method ``wait`` -> its parameter and its model."""
REPORT = '''
    def report(
        self,
        account: Account | str,
        start_date: date,
        end_date: date,
        *,
        level: ReportedLevel,
        entity_ids: Sequence[Node | str] | None = None,
        as_of: datetime | None = None,
    ) -> {report}:
        """Read daily figures of the entities of a level: a row for each day and entity.

        The report is read page by page while its rows are iterated over. It waits until the network has prepared the
        report, which may take minutes. ``client.networks.get`` lists the levels that a network reports.

        Access: {access}

        Args:
            account: {account}
            start_date: {start_date}
            end_date: {end_date} The range has at most 1100 days.
            level: what the rows are about. Each network reports ``account``.
            entity_ids: 1 to 50 entities of the level, or their ids as the network gives them; all by default.
            as_of: {as_of}

        Returns:
            A report that sends its first request when its first page is read.

        Raises:
            InvalidInput: an argument has a wrong type. The errors of :meth:`daily` are raised while pages are read.
        """
        arguments = {{"accountId": account, "startDate": start_date, "endDate": end_date}}
        return {report}(self._client, {{**arguments, "level": level, "entityIds": entity_ids, "asOf": as_of}})
'''
"""The methods that are no rows of the table."""


def write_files() -> dict[Path, str]:
    """Every generated file with its content, formatted."""
    resources = list(dict.fromkeys(endpoint.resource for endpoint in ENDPOINTS))
    files = {NETWORK_CODES: write_network_codes()}
    for is_async, folder in ((False, "resources"), (True, "async_resources")):
        for resource in resources:
            files[CLIENT / folder / f"{resource}.py"] = write_resource(resource, is_async)
        files[CLIENT / folder / "__init__.py"] = write_namespaces(resources, is_async)
    return {path: format_source(path, text) for path, text in files.items()}


def format_source(path: Path, text: str) -> str:
    """The text as ruff formats it and sorts its imports."""
    for command in (("check", "--select", "I", "--fix", "--quiet"), ("format", "--quiet")):
        arguments = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"]
        text = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def write_network_codes() -> str:
    """The module with the codes of the networks."""
    codes = ", ".join(f'"{code}"' for code in ADAPTER_PACKAGES)
    return f'''"""The codes of the networks as a type. Written by ``nox -s client``."""

from __future__ import annotations

from typing import Literal, NewType

ExternalNetwork = NewType("ExternalNetwork", str)
"""The code of a network whose adapter is in another distribution, which exports its code with this type."""
NetworkCode = Literal[{codes}] | ExternalNetwork
"""The code of a network."""
'''


def get_class_name(resource: str, is_async: bool) -> str:
    """The name of the class of a namespace."""
    return ("Async" if is_async else "") + "".join(word.capitalize() for word in resource.split("_")) + "Resource"


def write_namespaces(resources: list[str], is_async: bool) -> str:
    """The module with the class that has all namespaces."""
    prefix, awaited = ("Async", "asynchronous ") if is_async else ("", "")
    imports = "\n".join(f"from .{resource} import {get_class_name(resource, is_async)}" for resource in resources)
    members = "\n".join(
        f"        self.{resource}: {get_class_name(resource, is_async)} = {get_class_name(resource, is_async)}(self)"
        for resource in resources
    )
    return f'''"""The namespaces of the {awaited}client. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.client.resource import {prefix}Requests

{imports}


class {prefix}Namespaces({prefix}Requests):
    """A client with a namespace for each part of the contract."""

    def __init__(self) -> None:
{members}
'''


def write_resource(resource: str, is_async: bool) -> str:
    """The module of one namespace."""
    methods = [write_method(endpoint, is_async) for endpoint in ENDPOINTS if endpoint.resource == resource]
    if resource == "operations":
        words = {name: PARAMETERS[name] for name in ("operation", "confirmed", "allow_stale")}
        words["error"] = ERRORS["OperationError"]
        methods.append(RUN.format(define=_define(is_async), wait="await " if is_async else "", **words))
    if resource in WAITING_RESOURCES:
        name, model = WAITING_RESOURCES[resource]
        words = {"name": name, "model": model, "described": PARAMETERS[name], "error": ERRORS["NotFound"]}
        wait, look = ("await ", "wait_async") if is_async else ("", "wait")
        methods.append(WAIT.format(define=_define(is_async), wait=wait, look=look, **words))
    if resource == "insights":
        words = {name: PARAMETERS[name] for name in ("account", "start_date", "end_date", "as_of")}
        words["access"] = next(endpoint for endpoint in ENDPOINTS if endpoint.resource == resource).access_description
        methods.append(REPORT.format(report="AsyncReport" if is_async else "Report", **words))
    prefix = "Async" if is_async else ""
    body = "\n".join(methods)
    names = [name for name in IMPORTS if re.search(rf"\b{name}\b", re.sub(r'"""[^"]*"""', "", body))]
    imports = "\n".join(f"from {IMPORTS[name]} import {name}" for name in names)
    return f'''"""The namespace ``{resource}``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

{imports}
from adsunify.client.resource import {prefix}Resource


class {get_class_name(resource, is_async)}({prefix}Resource):
    """{NAMESPACES[resource]}"""

{body}
'''


def _define(is_async: bool) -> str:
    return "async def" if is_async else "def"


def get_answer_model(endpoint: Endpoint) -> tuple[type[Shape], bool]:
    """The model of the answer, and whether the answer is a list of it. A catalog is a list; its reports are not."""
    first = endpoint.answer_type if isinstance(endpoint.answer_type, type) else get_args(endpoint.answer_type)[0]
    if get_origin(endpoint.answer_type) is list or get_origin(first) is list:
        (model,) = get_args(first) or (first,)
        return model, True
    return first, False


def write_method(endpoint: Endpoint, is_async: bool) -> str:
    """The method of one row."""
    parameters = read_parameters(endpoint)
    model, is_list = get_answer_model(endpoint)
    pages = "AsyncPages" if is_async else "Pages"
    answer = f"{pages}[{model.__name__}]" if is_list else model.__name__
    define = "def" if is_list or not is_async else "async def"
    words = indent(write_docstring(endpoint, parameters, model, is_list), "        ").strip()
    return f'''
    {define} {endpoint.method_name}({write_signature(endpoint, parameters)}) -> {answer}:
        """{words}
        """
        return {write_call(endpoint, parameters, model, is_list, is_async)}
'''


def write_signature(endpoint: Endpoint, parameters: list[Parameter]) -> str:
    """The parameters between the parentheses."""
    by_name = [parameter.source for parameter in parameters if not parameter.is_positional]
    parts = ["self", *(parameter.source for parameter in parameters if parameter.is_positional)]
    if takes_any_member(endpoint):
        return ", ".join([*parts, *by_name, "**credentials: str"])
    return ", ".join([*parts, *(["*", *by_name] if by_name else [])])


def write_call(
    endpoint: Endpoint, parameters: list[Parameter], model: type[Shape], is_list: bool, is_async: bool
) -> str:
    """The call that the method makes."""
    members = [f'"{parameter.wire}": {parameter.name}' for parameter in parameters if parameter.wire]
    extra = ", **credentials" if takes_any_member(endpoint) else ""
    arguments = f'"{endpoint.operation_id}", {{{", ".join(members)}{extra}}}'
    if is_list:
        pages = "AsyncPages" if is_async else "Pages"
        return f"{pages}(self._client, {model.__name__}, {arguments})"
    key = ", idempotency_key" if endpoint.takes_idempotency_key else ""
    wait = "await " if is_async else ""
    if model is Insights:
        return f"({wait}self._client._read_report(Insights, {arguments})).report"
    return f"{wait}self._client._request({model.__name__}, {arguments}{key})"


# -- docstrings ---------------------------------------------------------------------------------------------------


def write_docstring(endpoint: Endpoint, parameters: list[Parameter], model: type[Shape], is_list: bool) -> str:
    """What the use case says, who may call it, the parameters, the answer and the errors."""
    described = inspect.cleandoc(describe_endpoint(endpoint))
    text, raised = re.sub(r"\s*Raises [^.]*\.", "", described), re.findall(r"Raises ([^.]*)\.", described)
    paragraphs = [to_python_words(" ".join(part.split())) for part in text.split("\n\n")]
    summary, _, more = paragraphs[0].partition(". ")
    blocks = [summary.removesuffix(".") + "."]
    blocks += [fill_text(part) for part in (more, *paragraphs[1:], describe_special(endpoint)) if part]
    blocks.append(fill_text(f"Access: {endpoint.access_description}"))
    names = [parameter.name for parameter in parameters] + (["credentials"] if takes_any_member(endpoint) else [])
    if names:
        words = [f"{name}: {describe_in_method(endpoint, name, PARAMETERS)}" for name in names]
        blocks.append(write_section("Args", words))
    blocks.append(write_section("Returns", [describe_answer(model, is_list)]))
    errors = [
        f"{name}: {describe_in_method(endpoint, name, ERRORS)}" for name in list_errors(endpoint, " ".join(raised))
    ]
    if errors:
        blocks.append(write_section("Raises", errors))
    return "\n\n".join(blocks)


def describe_in_method(endpoint: Endpoint, name: str, words: Mapping[str, str]) -> str:
    """What a parameter or an error is: in this method, in methods of this name, in this namespace, or everywhere."""
    resource, method = endpoint.resource, endpoint.method_name
    keys = (f"{resource}.{method}.{name}", f"{method}.{name}", f"{resource}.{name}", name)
    return next(words[key] for key in keys if key in words)


def describe_special(endpoint: Endpoint) -> str:
    """What the method does beyond its endpoint."""
    if get_answer_model(endpoint)[0] is Insights:
        return (
            "This method calls again until the report is ready, which may take minutes. :meth:`report` reads a level."
        )
    if endpoint.operation_id == "get_account_catalog":
        return "This method refuses ``report:<job>``: ``client.insights.daily`` reads reports."
    return ""


def to_python_words(text: str) -> str:
    """The text with the names of attributes for those of JSON."""

    def convert_code(code: re.Match[str]) -> str:
        return re.sub(r"\b[a-z]+[A-Z]\w*", lambda name: to_snake(name[0]), code[0])

    return re.sub(r"\bnull\b", "None", re.sub(r"``[^`]*``", convert_code, text))


def fill_text(text: str, first: str = "", following: str = "") -> str:
    """The text in lines that fit into a method."""
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    return fill(text, WIDTH - 8, initial_indent=first, subsequent_indent=following, **options)


def write_section(name: str, entries: list[str]) -> str:
    """A section of the docstring."""
    hang = "    " if name == "Returns" else "        "
    return "\n".join([f"{name}:", *(fill_text(entry, "    ", hang) for entry in entries)])


def describe_answer(model: type[Shape], is_list: bool) -> str:
    """What the method returns."""
    words = to_python_words(" ".join(inspect.cleandoc(model.__doc__ or "").split("\n\n")[0].split()))
    return f"An iterator over all rows, of the class {model.__name__}. {words}" if is_list else words


def list_errors(endpoint: Endpoint, raised: str) -> Iterator[str]:
    """The errors of the method, in the order of their table."""
    method = (endpoint.resource, endpoint.method_name)
    is_of_account = "accountId" in endpoint.parameters or "account_id" in getattr(endpoint.body, "model_fields", {})
    facts = {
        "InvalidInput": bool(read_parameters(endpoint)),
        "Forbidden": endpoint.access != "read" or not endpoint.allows_agents,
        "NotFound": bool(endpoint.parameters) or is_of_account,
        "Conflict": endpoint.takes_idempotency_key,
        "ProviderError": is_of_account and method not in WITHOUT_NETWORK,
        "OperationError": endpoint.method_name in ("execute", "cancel", "undo"),
    } | dict.fromkeys(FURTHER_ERRORS.get(method, ()), True)
    return (name for name in ERRORS if facts.get(name) or re.search(rf"\b{name}\b", raised))
