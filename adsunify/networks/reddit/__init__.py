"""Reddit: campaigns, ad groups and ads over existing posts, through the Reddit Ads API v3."""
