"""Google Ads: responsive search ads with keywords."""
