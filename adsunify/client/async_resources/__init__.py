"""The namespaces of the asynchronous client. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.client.resource import AsyncRequests

from .accounts import AsyncAccountsResource
from .ad_groups import AsyncAdGroupsResource
from .ads import AsyncAdsResource
from .agents import AsyncAgentsResource
from .auth import AsyncAuthResource
from .bulk import AsyncBulkResource
from .campaigns import AsyncCampaignsResource
from .connections import AsyncConnectionsResource
from .insights import AsyncInsightsResource
from .keys import AsyncKeysResource
from .networks import AsyncNetworksResource
from .operations import AsyncOperationsResource
from .webhooks import AsyncWebhooksResource
from .workflows import AsyncWorkflowsResource


class AsyncNamespaces(AsyncRequests):
    """A client with a namespace for each part of the contract."""

    def __init__(self) -> None:
        self.auth = AsyncAuthResource(self)
        self.keys = AsyncKeysResource(self)
        self.agents = AsyncAgentsResource(self)
        self.connections = AsyncConnectionsResource(self)
        self.networks = AsyncNetworksResource(self)
        self.accounts = AsyncAccountsResource(self)
        self.insights = AsyncInsightsResource(self)
        self.workflows = AsyncWorkflowsResource(self)
        self.campaigns = AsyncCampaignsResource(self)
        self.operations = AsyncOperationsResource(self)
        self.bulk = AsyncBulkResource(self)
        self.ad_groups = AsyncAdGroupsResource(self)
        self.ads = AsyncAdsResource(self)
        self.webhooks = AsyncWebhooksResource(self)
