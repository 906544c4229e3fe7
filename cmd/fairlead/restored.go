package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
)

func newRestoredCommand() *cobra.Command {
	var db string
	cmd := &cobra.Command{
		Use:   "restored",
		Short: "Mark the database as restored from a backup",
		Long: "Mark the database as restored from a backup or to an earlier point in time. New fences, job IDs and node IDs\n" +
			"are assigned above all earlier ones, and every process drops its caches. Nodes detect a failover or a\n" +
			"restart of the database server themselves; run this command after restoring into a server that kept running.\n" +
			"Running it more often than needed is harmless.",
		Args:              noArguments,
		PersistentPreRunE: databaseFrom,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := openDatabase(cmd.Context(), db, databaseOptions{})
			if err != nil {
				return err
			}
			defer store.Close()
			restorer, able := store.(driver.Restorer)
			if !able {
				return usagef("this database does not support this command: restart all processes that use it instead")
			}
			done, err := restorer.Restored(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "fences continue above %d, job IDs above %d, node IDs above %d\n", done.Fence, done.Job, done.Node)
			return err
		},
	}
	databaseFlags(cmd.Flags(), &db, defaultDatabase)
	return cmd
}
