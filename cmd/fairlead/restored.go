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
		Short: "Tell all nodes that the database was restored",
		Long: "Tell all nodes that the database was restored: from a backup, or to an earlier moment. The numbers of fences, jobs\n" +
			"and nodes continue above all that were ever given out, and every process drops what it has cached. Nodes notice\n" +
			"a failover and a restart of the server themselves; run this after a restore into a server that went on running.\n" +
			"Running it once too often does no harm.",
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
				return usagef("the store of this database has nothing to restore: restart all processes that use it instead")
			}
			done, err := restorer.Restored(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "fences continue above %d, jobs above %d, nodes above %d\n", done.Fence, done.Job, done.Node)
			return err
		},
	}
	databaseFlags(cmd.Flags(), &db, defaultDatabase)
	return cmd
}
