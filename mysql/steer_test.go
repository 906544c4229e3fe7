package mysql_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/sweep"
)

// A shard ends, and then its job, while another caller reads both: between any two
// statements. It must not look as if the job had gone before the shard ended, because a
// sweep stops then.
func TestAShardThatEndsWhileItIsReadHasEnded(t *testing.T) {
	ctx, address := t.Context(), mysql.Migrated.MySQL(t)
	store := openStore(t, address, mysql.Options{})
	client := sweep.NewClient(store)
	s, err := client.Put(ctx, sweep.Sweep{Name: "s", Kind: "k", To: 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Start(ctx, s.ID, "me"); err != nil {
		t.Fatal(err)
	}
	db := rawDB(t, address, nil)
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ending := func(statement string) {
		t.Helper()
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	ending("lock tables fairlead_job write") // a transaction that reads how jobs stand waits
	read := make(chan error, 1)
	go func() {
		_, err := store.Steer(ctx, s.ID, true, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
			shards, states, err := tx.Shards(ctx)
			if err == nil && states[0] == "" && !shards[0].Ended {
				t.Error("its job has gone, and it has not ended")
			}
			return err
		})
		read <- err
	}()
	for waiting := 0; waiting == 0; {
		time.Sleep(5 * time.Millisecond)
		const waits = "select count(*) from information_schema.processlist where db = database() and state like 'Waiting for table%'"
		if err := db.QueryRowContext(ctx, waits).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(ctx, "update fairlead_shard_progress set ended = 1"); err != nil {
		t.Fatal(err)
	}
	ending("delete from fairlead_job")
	ending("unlock tables")
	if err := <-read; err != nil {
		t.Fatal(err)
	}
}
