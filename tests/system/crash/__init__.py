"""What must hold when processes die, race, stop or are lied to: 0 duplicate native writes, 0 lost receipts."""
