package sim_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/sim"
	"github.com/fairlead-io/fairlead/sqlite"
)

// atOnce is the number of scenarios that run at the same time. Each one mostly waits: for
// leases to expire, and for work that happens at a limited rate.
const atOnce = 2

// TestMain makes this program a worker when a driver started it as one.
func TestMain(m *testing.M) {
	sim.WorkerMain(open)
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(atOnce)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// openPatient opens the store that a URL names for a driver, which is never paused. On
// a busy machine a worker's limits would end what the driver has begun.
func openPatient(ctx context.Context, url string) (driver.Store, error) {
	if _, sound, ok := strings.Cut(url, "+"); ok { // the driver needs no bug, and is not starved
		url = sound
	}
	switch scheme, _, _ := strings.Cut(url, "://"); scheme {
	case "postgres":
		return postgres.Open(ctx, url)
	case "mysql":
		return mysql.Open(ctx, url)
	default:
		return open(ctx, url)
	}
}

// open opens the store that a URL names for a worker.
func open(ctx context.Context, url string) (driver.Store, error) {
	scheme, _, _ := strings.Cut(url, "://")
	if strings.Contains(scheme, "+") {
		return plant(ctx, url)
	}
	switch scheme {
	case "postgres":
		return postgres.OpenWith(ctx, url, postgres.Options{IdleLimit: quickNode.Lease})
	case "mysql":
		return mysql.OpenWith(ctx, url, mysql.Options{IdleLimit: quickNode.Lease})
	case "sqlite":
		// A killed process loses nothing; only a power cut would.
		return sqlite.OpenWith(ctx, url, sqlite.Options{Synchronous: "normal"})
	default:
		return nil, fmt.Errorf("no store for %q", url)
	}
}
