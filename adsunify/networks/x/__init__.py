"""X Ads: promoted posts for website clicks."""
