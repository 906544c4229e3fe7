package main

import (
	"context"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// At PgBouncer's plain URL a node polls, and one that is told where the server is
// hears of jobs without.
func TestServeThroughPgBouncer(t *testing.T) {
	t.Parallel()
	tier.Long(t, "repeats what serve does, through PgBouncer")
	direct := testdb.Postgres(t)
	pooled := testdb.PgBouncer(t, direct)
	store, err := openStore(t.Context(), pooled)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	client := fairlead.NewClient(store)
	for name, args := range map[string][]string{
		"polling":   {"--poll", "20ms"},
		"listening": {"--poll", "1h", "--db-listen", direct},
	} {
		node := startServe(t, append([]string{"--db", pooled}, args...)...)
		ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
		for range 3 {
			job := &fairlead.Job{Kind: "noop"}
			if err := client.Enqueue(ctx, job); err != nil {
				t.Fatal(err)
			}
			if done, err := client.Wait(ctx, job.ID); err != nil || done.State != fairlead.Succeeded {
				t.Errorf("%s: %v %+v", name, err, done)
			}
		}
		cancel()
		node.cancel()
		if code, log := <-node.exit, <-node.log; code != exitOK || strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") {
			t.Errorf("%s: exit code %d\n%s", name, code, log)
		}
	}
}

func TestServeRefusesToListenAtAPooler(t *testing.T) {
	t.Parallel()
	tier.Long(t, "needs PgBouncer")
	pooled := testdb.PgBouncer(t, testdb.Postgres(t))
	var stderr strings.Builder
	code := run(t.Context(), []string{"serve", "--addr", "127.0.0.1:0", "--db", pooled, "--db-listen", pooled}, &strings.Builder{}, &stderr)
	if code == exitOK || !strings.Contains(stderr.String(), "use the server's own URL") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}
