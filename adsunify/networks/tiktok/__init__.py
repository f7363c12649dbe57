"""TikTok: API for Business v1.3, one video ad at a time, in the manual and the Upgraded Smart+ flow."""
