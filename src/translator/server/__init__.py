"""The page and LibreTranslate's HTTP API over one translator (needs the extra 'serve')."""
