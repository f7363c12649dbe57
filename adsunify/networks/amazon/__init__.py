"""Amazon Ads: Sponsored Products campaigns that advertise a listing by keywords."""
