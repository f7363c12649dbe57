"""Two versions of adsunify on one database, and databases of older versions in the hands of this one."""
