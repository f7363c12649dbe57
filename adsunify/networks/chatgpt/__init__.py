"""OpenAI Advertiser API: ads in ChatGPT."""
