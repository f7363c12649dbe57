"""The namespaces of the asynchronous client. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.client.resource import AsyncRequests

from .accounts import AsyncAccountsResource
from .ad_groups import AsyncAdGroupsResource
from .ads import AsyncAdsResource
from .agents import AsyncAgentsResource
from .alerts import AsyncAlertsResource
from .auth import AsyncAuthResource
from .bulk import AsyncBulkResource
from .campaigns import AsyncCampaignsResource
from .change_sets import AsyncChangeSetsResource
from .connections import AsyncConnectionsResource
from .files import AsyncFilesResource
from .guardrails import AsyncGuardrailsResource
from .insights import AsyncInsightsResource
from .keys import AsyncKeysResource
from .launches import AsyncLaunchesResource
from .ledger import AsyncLedgerResource
from .networks import AsyncNetworksResource
from .operations import AsyncOperationsResource
from .webhooks import AsyncWebhooksResource
from .workflows import AsyncWorkflowsResource


class AsyncNamespaces(AsyncRequests):
    """A client with a namespace for each part of the contract."""

    def __init__(self) -> None:
        self.auth: AsyncAuthResource = AsyncAuthResource(self)
        self.keys: AsyncKeysResource = AsyncKeysResource(self)
        self.agents: AsyncAgentsResource = AsyncAgentsResource(self)
        self.connections: AsyncConnectionsResource = AsyncConnectionsResource(self)
        self.networks: AsyncNetworksResource = AsyncNetworksResource(self)
        self.accounts: AsyncAccountsResource = AsyncAccountsResource(self)
        self.insights: AsyncInsightsResource = AsyncInsightsResource(self)
        self.workflows: AsyncWorkflowsResource = AsyncWorkflowsResource(self)
        self.campaigns: AsyncCampaignsResource = AsyncCampaignsResource(self)
        self.operations: AsyncOperationsResource = AsyncOperationsResource(self)
        self.files: AsyncFilesResource = AsyncFilesResource(self)
        self.launches: AsyncLaunchesResource = AsyncLaunchesResource(self)
        self.change_sets: AsyncChangeSetsResource = AsyncChangeSetsResource(self)
        self.bulk: AsyncBulkResource = AsyncBulkResource(self)
        self.ad_groups: AsyncAdGroupsResource = AsyncAdGroupsResource(self)
        self.ads: AsyncAdsResource = AsyncAdsResource(self)
        self.guardrails: AsyncGuardrailsResource = AsyncGuardrailsResource(self)
        self.alerts: AsyncAlertsResource = AsyncAlertsResource(self)
        self.ledger: AsyncLedgerResource = AsyncLedgerResource(self)
        self.webhooks: AsyncWebhooksResource = AsyncWebhooksResource(self)
