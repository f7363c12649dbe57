"""Desired state as a file: the document that ``diff`` and ``apply`` take (docs/campaigns_in_git.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from adsunify.models.base import CrossFieldModel, EntityId, FreeForm, Items, Omittable
from adsunify.models.brief import Uuid
from adsunify.models.error_messages import Violation
from adsunify.models.launch import (
    MAX_LAUNCH_ACCOUNTS,
    MAX_URL_PARAMETERS,
    LaunchAccount,
    LaunchName,
    NameTemplate,
    NetworkCode,
    NewLaunch,
    UrlParameterName,
    UrlTemplate,
    find_repeated_keys,
)
from adsunify.values.exact_json import Json

MAX_ENTITIES = 2000
MAX_LAUNCHES = 100
"""The maximum numbers of entities and of launches of one document."""


class WantedEntity(CrossFieldModel):
    """An existing entity with its wanted values: fields of its network's SETTINGS table by name, and a status.

    Fields that are left out are not managed. null means that the field is not set.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    account_id: Uuid
    kind: Literal["campaign", "adGroup", "ad"]
    id: EntityId
    status: Omittable[Literal["active", "paused"]] = None

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that each field has a value that an edit takes."""
        fields = members.model_extra if isinstance(members.model_extra, Mapping) else {}
        return [
            Violation((name,), "wrong_type", "must be a text, a number, true, false, null or a list of texts.")
            for name, value in fields.items()
            if not _is_field_value(value)
        ]

    @property
    def wanted_fields(self) -> dict[str, Json]:
        """Field -> the value that is wanted, with the status if the file names one."""
        status = {} if self.status is None else {"status": self.status}
        return {**(self.model_extra or {}), **status}


def _is_field_value(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return value is None or isinstance(value, str | bool | int | Decimal)


class WantedLaunch(CrossFieldModel):
    """A launch, and the status that its campaigns should have.

    Without accounts, none of its campaigns is wanted any more.
    """

    campaign: FreeForm
    accounts: Annotated[Items[LaunchAccount], Field(max_length=MAX_LAUNCH_ACCOUNTS)]
    networks: Omittable[dict[NetworkCode, FreeForm]] = None
    name_template: Omittable[NameTemplate] = None
    url_parameters: Omittable[
        Annotated[dict[UrlParameterName, UrlTemplate], Field(min_length=1, max_length=MAX_URL_PARAMETERS)]
    ] = None
    status: Omittable[Literal["active", "paused"]] = None

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that each cell has a key that no earlier cell has."""
        return list(find_repeated_keys(members.accounts))

    def to_launch(self, name: str) -> NewLaunch:
        """Return the launch as a request."""
        return NewLaunch.model_validate({"name": name, **self.model_dump(exclude_none=True, exclude={"status"})})


class Document(CrossFieldModel):
    """The desired state of the accounts of a workspace.

    ``name`` distinguishes several files of one workspace: a file pauses only entities that a file of its name has
    created.
    """

    name: Omittable[LaunchName] = None
    launches: Annotated[dict[LaunchName, WantedLaunch], Field(max_length=MAX_LAUNCHES)] = Field(default={})
    entities: Annotated[Items[WantedEntity], Field(max_length=MAX_ENTITIES)] = ()

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that no entity is named twice."""
        return list(_find_repeated_entities(members.entities))

    @property
    def account_paths(self) -> dict[str, str]:
        """The ids of the accounts -> where the document names them first."""
        paths: dict[str, str] = {}
        for name, launch in self.launches.items():
            for index, cell in enumerate(launch.accounts):
                paths.setdefault(cell.account_id, f"launches.{name}.accounts.{index}.accountId")
        for index, entity in enumerate(self.entities):
            paths.setdefault(entity.account_id, f"entities.{index}.accountId")
        return paths


def _find_repeated_entities(entities: Any) -> Iterator[Violation]:
    """Yield a violation for each entity that an earlier entry names. ``entities`` may be unchecked input."""
    places: set[tuple[Json, ...]] = set()
    for index, entity in enumerate(entities or ()):
        if isinstance(entity, WantedEntity):
            place = (entity.account_id, entity.kind, entity.id)
            if place in places:
                yield Violation(("entities", index), "duplicate", "is in the file already.")
            places.add(place)
