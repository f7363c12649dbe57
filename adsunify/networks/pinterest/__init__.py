"""Pinterest: image pins and existing pins."""
