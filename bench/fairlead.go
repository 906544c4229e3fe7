package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/sqlite"
)

// ownFairlead is Fairlead with a database of its own.
type ownFairlead struct {
	bench.Fairlead
}

func openFairlead(ctx context.Context, url, workload string) (*ownFairlead, error) {
	store, err := openStore(ctx, url)
	if err != nil {
		return nil, err
	}
	f := &ownFairlead{bench.Fairlead{Store: store, Kind: bench.KindOwn, Queue: "bench"}}
	if workload != bench.Latency {
		f.UnderLoad()
	}
	return f, nil
}

func openStore(ctx context.Context, url string) (driver.Store, error) {
	scheme, _, _ := strings.Cut(url, "://")
	switch scheme {
	case "postgres":
		return postgres.Open(ctx, url)
	case "mysql":
		return mysql.Open(ctx, url)
	case "sqlite":
		return sqlite.Open(ctx, url)
	default:
		return nil, fmt.Errorf("no store for %s", url)
	}
}

// Close closes the store.
func (f *ownFairlead) Close() error { return f.Store.Close() }
