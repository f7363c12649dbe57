"""The namespaces of the client. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.client.resource import Requests

from .accounts import AccountsResource
from .ad_groups import AdGroupsResource
from .ads import AdsResource
from .agents import AgentsResource
from .alerts import AlertsResource
from .auth import AuthResource
from .bulk import BulkResource
from .campaigns import CampaignsResource
from .change_sets import ChangeSetsResource
from .connections import ConnectionsResource
from .files import FilesResource
from .guardrails import GuardrailsResource
from .insights import InsightsResource
from .keys import KeysResource
from .launches import LaunchesResource
from .ledger import LedgerResource
from .networks import NetworksResource
from .operations import OperationsResource
from .webhooks import WebhooksResource
from .workflows import WorkflowsResource


class Namespaces(Requests):
    """A client with a namespace for each part of the contract."""

    def __init__(self) -> None:
        self.auth: AuthResource = AuthResource(self)
        self.keys: KeysResource = KeysResource(self)
        self.agents: AgentsResource = AgentsResource(self)
        self.connections: ConnectionsResource = ConnectionsResource(self)
        self.networks: NetworksResource = NetworksResource(self)
        self.accounts: AccountsResource = AccountsResource(self)
        self.insights: InsightsResource = InsightsResource(self)
        self.workflows: WorkflowsResource = WorkflowsResource(self)
        self.campaigns: CampaignsResource = CampaignsResource(self)
        self.operations: OperationsResource = OperationsResource(self)
        self.files: FilesResource = FilesResource(self)
        self.launches: LaunchesResource = LaunchesResource(self)
        self.change_sets: ChangeSetsResource = ChangeSetsResource(self)
        self.bulk: BulkResource = BulkResource(self)
        self.ad_groups: AdGroupsResource = AdGroupsResource(self)
        self.ads: AdsResource = AdsResource(self)
        self.guardrails: GuardrailsResource = GuardrailsResource(self)
        self.alerts: AlertsResource = AlertsResource(self)
        self.ledger: LedgerResource = LedgerResource(self)
        self.webhooks: WebhooksResource = WebhooksResource(self)
