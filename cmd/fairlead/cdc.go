package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/cdc"
	"github.com/fairlead-io/fairlead/internal/cli"
)

// cdcFile is the file of --cdc: the Kafka Connect clusters with the connectors that batches
// operate.
type cdcFile struct {
	Clusters          []cdcCluster      `yaml:"clusters"`
	Sizes             cdc.Sizes         `yaml:"sizes"`
	GTID              cdc.GTIDNames     `yaml:"gtid"`
	MigrationDefaults map[string]string `yaml:"migration_defaults"`
	KeepProgress      bool              `yaml:"keep_progress"`
	Poll              time.Duration     `yaml:"poll"`
	MaxPoll           time.Duration     `yaml:"max_poll"`
	RequestTimeout    time.Duration     `yaml:"request_timeout"`
}

type cdcCluster struct {
	Name       string            `yaml:"name"`
	Env        string            `yaml:"env"`
	AZ         string            `yaml:"az"`
	RunSystem  string            `yaml:"run_system"`
	URL        string            `yaml:"url"`
	Username   string            `yaml:"username"`
	Password   string            `yaml:"password"` // ${env:NAME} or ${file:PATH}
	Properties map[string]string `yaml:"properties"`
}

// registerCDC adds the operations on the connectors of the clusters in a file to a mux.
// Without a file it does nothing.
func registerCDC(mux *fairlead.Mux, file string) error {
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return usagef("--cdc: %w", err)
	}
	var declared cdcFile
	if err := cli.DecodeYAML(file, raw, &declared, yaml.Strict()); err != nil {
		return usagef("--cdc: %w", err)
	}
	config := cdc.Config{
		Sizes: declared.Sizes, GTID: declared.GTID, MigrationDefaults: declared.MigrationDefaults, KeepProgress: declared.KeepProgress,
		Poll: declared.Poll, MaxPoll: declared.MaxPoll, RequestTimeout: declared.RequestTimeout,
	}
	for i, c := range declared.Clusters {
		password, err := referred(c.Password)
		if err != nil {
			return usagef("--cdc: %s: clusters[%d].password: %w", file, i, err)
		}
		config.Clusters = append(config.Clusters, cdc.Cluster{
			Name: c.Name, Env: c.Env, AZ: c.AZ, RunSystem: c.RunSystem, URL: c.URL, Username: c.Username, Password: password, Properties: c.Properties,
		})
	}
	handler, err := cdc.New(config)
	if err != nil {
		return usagef("--cdc: %s: %w", file, err)
	}
	handler.Register(mux)
	return nil
}

// referred returns the secret that a setting refers to. The configuration file must not
// contain the secret itself, because the file is often shared.
func referred(reference string) (string, error) {
	if reference == "" {
		return "", nil
	}
	inner, isReference := strings.CutPrefix(strings.TrimSuffix(reference, "}"), "${")
	variable, isVariable := strings.CutPrefix(inner, "env:")
	path, isFile := strings.CutPrefix(inner, "file:")
	switch {
	case isReference && isVariable:
		if value := os.Getenv(variable); value != "" {
			return value, nil
		}
		return "", fmt.Errorf("environment variable %s is unset or empty", variable)
	case isReference && isFile:
		value, err := os.ReadFile(path)
		return strings.TrimRight(string(value), "\r\n"), err
	}
	return "", fmt.Errorf("must be a reference such as ${env:NAME} or ${file:PATH}, not the password itself")
}
