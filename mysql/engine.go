package mysql

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// remedy ends every refusal.
const remedy = "use MySQL 8.0.13 or later, or MariaDB 10.6 or later"

// foreignEngines speak the protocol of MySQL and do not lock rows as the store needs it.
// Their version or its comment contains the mark, in any case.
var foreignEngines = []struct{ mark, name, why string }{
	{"tidb", "TiDB", "it ignores FOR UPDATE together with SKIP LOCKED, so two nodes could run one job"},
	{"vitess", "Vitess", "it refuses SKIP LOCKED"},
	{"planetscale", "PlanetScale, which is Vitess", "it refuses SKIP LOCKED"},
}

// foreignEngine refuses a server that would not keep the guarantees, although most
// statements would succeed there. It returns nil for MySQL and MariaDB, for what is made
// of them, and for versions it cannot read. Galera is MariaDB: see galera.
func foreignEngine(version, comment string) error {
	banner := strings.TrimSpace(version + " " + comment)
	for _, engine := range foreignEngines {
		if strings.Contains(strings.ToLower(banner), engine.mark) {
			return fmt.Errorf("the server is %s (%s), which Fairlead does not support: %s: "+remedy, engine.name, banner, engine.why)
		}
	}
	oldest := [3]int{8, 0, 13}
	if strings.Contains(version, "MariaDB") {
		oldest = [3]int{10, 6, 0}
		version = strings.TrimPrefix(version, "5.5.5-") // some proxies put it before the version, as replication once needed
	}
	if numbers, ok := versionNumbers(version); ok && older(numbers, oldest) {
		return fmt.Errorf("the server is too old (%s): "+remedy, banner)
	}
	return nil
}

// versionNumbers reads the three numbers that a version begins with.
func versionNumbers(version string) (numbers [3]int, ok bool) {
	version, _, _ = strings.Cut(version, "-")
	words := strings.Split(version, ".")
	if len(words) < len(numbers) {
		return numbers, false
	}
	for i := range numbers {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			return numbers, false
		}
		numbers[i] = n
	}
	return numbers, true
}

func older(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// engine asks the server of the first connection what it is. What comes after a failover
// is of the same kind.
type engine struct {
	question string
	met      atomic.Bool
}

// check fails if the server is one that the store cannot run on.
func (e *engine) check(ctx context.Context, conn driver.Conn) error {
	if e.met.Load() {
		return nil
	}
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return fmt.Errorf("the driver's %T does not support queries", conn)
	}
	answer, err := askOnce(ctx, queryer, e.question)
	if err != nil {
		return fmt.Errorf("read the server's version: %w", err)
	}
	err = foreignEngine(answer[0], answer[1])
	e.met.Store(err == nil)
	return err
}
