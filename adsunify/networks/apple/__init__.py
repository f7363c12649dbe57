"""Apple Ads: search-results campaigns that show a custom product page of an app."""
