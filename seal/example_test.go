package seal_test

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/seal"
	"github.com/fairlead-io/fairlead/sqlite"
)

// The key of May only opens what it has sealed. New documents are sealed with the key of
// November.
func Example() {
	ctx := context.Background()
	may, november := seal.NewSecret(), seal.NewSecret() // from where you keep secrets
	keys, err := seal.NewKeys(seal.Key{ID: "2026-11", Secret: november}, seal.Key{ID: "2026-05", Secret: may})
	if err != nil {
		panic(err)
	}
	database, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		panic(err)
	}
	defer func() { _ = database.Close() }()
	store := seal.Wrap(database, keys)

	job := &fairlead.Job{Kind: "pay", Args: []byte(`{"card":"4000 0000 0000 0002"}`)}
	if err := fairlead.NewClient(store).Enqueue(ctx, job); err != nil {
		panic(err)
	}
	stored, err := fairlead.NewClient(database).Get(ctx, job.ID)
	if err != nil {
		panic(err)
	}
	read, err := fairlead.NewClient(store).Get(ctx, job.ID)
	if err != nil {
		panic(err)
	}
	fmt.Printf("in the database: %.12s…\nfor the program: %s\n", stored.Args, read.Args)
	// Output:
	// in the database: {"$sealed":"…
	// for the program: {"card":"4000 0000 0000 0002"}
}
