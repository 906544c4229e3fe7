package postgres

import (
	"fmt"
	"strings"
)

// oldestVersion is the oldest server_version_num that the store runs on.
const oldestVersion = 13_00_00

// foreignEngines speak the protocol of PostgreSQL and lack something that the store
// depends on. Their banners, the answers to version(), contain the mark.
var foreignEngines = []struct{ mark, name, why string }{
	{"CockroachDB", "CockroachDB", "it has no advisory locks, and its SKIP LOCKED may skip rows that are not locked"},
	{"-YB-", "YugabyteDB", "its rows have no system column xmax"},
}

// foreignEngine refuses a server that would not keep the guarantees, although most
// statements would succeed there. It returns nil for PostgreSQL, and for services made
// of PostgreSQL.
func foreignEngine(banner string, version int) error {
	for _, engine := range foreignEngines {
		if strings.Contains(banner, engine.mark) {
			return fmt.Errorf("the server is %s (%s), which Fairlead does not support: %s: use PostgreSQL %d or later", engine.name, banner, engine.why, oldestVersion/10_000)
		}
	}
	if version < oldestVersion {
		return fmt.Errorf("the server is too old (%s): use PostgreSQL %d or later", banner, oldestVersion/10_000)
	}
	return nil
}
