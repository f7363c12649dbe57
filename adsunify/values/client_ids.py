"""The lengths of the ids of agents' clients. The models of briefs import them, so this module imports nothing."""

MAX_CLIENT_ID_LENGTH = 500
"""The id of an agent's client is a UUID, or the address of a document that describes the client."""
MAX_CREDENTIAL_LENGTH = MAX_CLIENT_ID_LENGTH + len(":00000000-0000-0000-0000-000000000000")
"""The length of an agent's credential: the id of its client and the id of its user."""
