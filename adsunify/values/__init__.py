"""Values: money, currencies, countries, dates, exact JSON and pointers into it. No I/O."""
