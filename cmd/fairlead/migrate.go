package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/cli"
)

func newMigrateCommand() *cobra.Command {
	var db string
	cmd := &cobra.Command{
		Use:               "migrate",
		Short:             "Show or upgrade the database schema",
		Long:              "Show or upgrade the database schema. serve also upgrades it on startup.",
		PersistentPreRunE: databaseFrom,
	}
	cli.OnlyCommands(cmd)
	databaseFlags(cmd.PersistentFlags(), &db, defaultDatabase)
	action := func(use, short string, run func(ctx context.Context, store driver.Migrator, out io.Writer) error) {
		cmd.AddCommand(&cobra.Command{
			Use: use, Short: short, Args: noArguments,
			RunE: func(cmd *cobra.Command, _ []string) error {
				store, err := openDatabase(cmd.Context(), db, databaseOptions{schemaOnly: true, waiting: func(whom string) {
					fmt.Fprintln(cmd.ErrOrStderr(), "waiting for", whom)
				}})
				if err != nil {
					return err
				}
				defer store.Close()
				return run(cmd.Context(), store, cmd.OutOrStdout())
			},
		})
	}
	action("up", "Apply pending migrations", func(ctx context.Context, store driver.Migrator, out io.Writer) error {
		schema, err := store.Migrate(ctx)
		if err != nil {
			return err
		}
		return printSchema(out, schema)
	})
	action("status", "Show applied and pending migrations", func(ctx context.Context, store driver.Migrator, out io.Writer) error {
		schema, err := store.Schema(ctx)
		if err != nil {
			return err
		}
		return printSchema(out, schema)
	})
	action("print", "Print all migrations as SQL", func(_ context.Context, store driver.Migrator, out io.Writer) error {
		_, err := io.WriteString(out, store.Script())
		return err
	})
	return cmd
}

func printSchema(out io.Writer, schema driver.Schema) error {
	if len(schema.Pending) == 0 {
		_, err := fmt.Fprintf(out, "schema version %d of %d: up to date\n", schema.Current, schema.Latest)
		return err
	}
	_, err := fmt.Fprintf(out, "schema version %d of %d; pending: %s (run fairlead migrate up)\n",
		schema.Current, schema.Latest, strings.Join(schema.Pending, ", "))
	return err
}
