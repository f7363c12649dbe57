"""The namespaces of the client. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.client.resource import Requests

from .accounts import AccountsResource
from .ad_groups import AdGroupsResource
from .ads import AdsResource
from .agents import AgentsResource
from .auth import AuthResource
from .bulk import BulkResource
from .campaigns import CampaignsResource
from .connections import ConnectionsResource
from .insights import InsightsResource
from .keys import KeysResource
from .networks import NetworksResource
from .operations import OperationsResource
from .webhooks import WebhooksResource
from .workflows import WorkflowsResource


class Namespaces(Requests):
    """A client with a namespace for each part of the contract."""

    def __init__(self) -> None:
        self.auth = AuthResource(self)
        self.keys = KeysResource(self)
        self.agents = AgentsResource(self)
        self.connections = ConnectionsResource(self)
        self.networks = NetworksResource(self)
        self.accounts = AccountsResource(self)
        self.insights = InsightsResource(self)
        self.workflows = WorkflowsResource(self)
        self.campaigns = CampaignsResource(self)
        self.operations = OperationsResource(self)
        self.bulk = BulkResource(self)
        self.ad_groups = AdGroupsResource(self)
        self.ads = AdsResource(self)
        self.webhooks = WebhooksResource(self)
