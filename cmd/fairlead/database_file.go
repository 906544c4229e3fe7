package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead/internal/cli"
)

// The two flags for the database, of which only one may be given. A URL with a password
// should be in a file or the environment, because the command line is visible to every user
// of the machine.
const (
	dbFlag     = "db"
	dbFileFlag = "db-file"
)

// dbListenFlag is the flag for the source of wakes about other processes' jobs.
const dbListenFlag = "db-listen"

const databaseFileUsage = "file whose first line is the URL of the database; unlike --db, it keeps the password out of process lists (env FAIRLEAD_DB_FILE; default: none)"

// databaseFlags adds both flags.
func databaseFlags(f *pflag.FlagSet, db *string, fallback string) {
	usage := databaseUsage
	if fallback == "" {
		usage += " (default: call a server instead)"
	}
	f.StringVar(db, dbFlag, fallback, usage)
	f.String(dbFileFlag, "", databaseFileUsage)
}

// databaseFrom sets --db to the URL from the command line or the environment (FAIRLEAD_DB,
// FAIRLEAD_DB_FILE), so that one variable selects the same database for all commands.
func databaseFrom(cmd *cobra.Command, _ []string) error {
	if err := configureDatabase(cmd.Flags(), nil, "", environment); err != nil {
		return err
	}
	return readDatabaseFile(cmd.Flags(), cmd.ErrOrStderr())
}

// configureDatabase sets the flags of the database from the environment or from a
// configuration file. The setting closest to the command line wins: one flag there
// overrides the other one elsewhere. Both in the same place are an error.
func configureDatabase(flags *pflag.FlagSet, values map[string][]string, file string, getenv func(string) (string, bool)) error {
	places := []struct {
		name string
		get  func(flag string) ([]string, bool)
	}{
		{"the command line", func(flag string) ([]string, bool) { return nil, flags.Changed(flag) }},
		{"the environment", func(flag string) ([]string, bool) {
			text, ok := getenv(variableOf(flag))
			return []string{text}, ok
		}},
		{file, func(flag string) ([]string, bool) { texts, ok := values[flag]; return texts, ok }},
	}
	for _, place := range places {
		url, byURL := place.get(dbFlag)
		path, byFile := place.get(dbFileFlag)
		switch {
		case byURL && byFile:
			return usagef("%s sets the database twice: use either --%s or --%s, not both", place.name, dbFlag, dbFileFlag)
		case (byURL || byFile) && url == nil && path == nil:
			return nil // already set
		case byURL:
			return set(flags, flags.Lookup(dbFlag), place.name, url)
		case byFile:
			return set(flags, flags.Lookup(dbFileFlag), place.name, path)
		}
	}
	return nil
}

// readDatabaseFile sets --db to the URL in the file of --db-file, if that flag is given. It warns
// about files with the password that every user of the machine can read.
func readDatabaseFile(flags *pflag.FlagSet, warnings io.Writer) error {
	if flags.Changed(dbFileFlag) {
		path := flags.Lookup(dbFileFlag).Value.String()
		line, err := firstLineOf(path)
		if err != nil {
			return err
		}
		cli.WarnIfOpen(warnings, path, "the URL of the database")
		if err := flags.Set(dbFlag, line); err != nil {
			return err
		}
	}
	for _, path := range secretFiles(flags.Lookup(dbFlag).Value.String()) {
		cli.WarnIfOpen(warnings, path, "the password of the database")
	}
	return nil
}

func firstLineOf(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", usagef("--%s: %w", dbFileFlag, err)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", usagef("--%s %s: the first line must be the URL of the database, but is empty", dbFileFlag, path)
	}
	return line, nil
}
