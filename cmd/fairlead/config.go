package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead/internal/cli"
)

// aliases maps keys of older configuration files to flags.
var aliases = map[string]string{
	"scheduler.poll_interval":   "poll",
	"executor.worker_pool_size": "slots",
	"executor.request_timeout":  "request-timeout",
}

// named lists flags with values of the form NAME=VALUE. In a file, they are a list of such
// values or a map.
var named = map[string]bool{"sweep-database": true, retentionFlag: true, kindRetentionFlag: true}

// configure sets every flag that is not on the command line from the environment
// (FAIRLEAD_QUEUE_SIZE for --queue-size) or otherwise from the YAML file (queue-size or
// queue_size). A key without a flag is an error, so that typing mistakes are noticed.
func configure(flags *pflag.FlagSet, file string, getenv func(string) (string, bool)) error {
	values, err := readConfig(file)
	if err != nil {
		return err
	}
	for key := range values {
		if flags.Lookup(key) == nil || key == "config" {
			return usagef("%s: unknown key %q; keys are flag names (see fairlead serve --help)", file, key)
		}
	}
	if flags.Lookup(dbFlag) != nil && flags.Lookup(dbFileFlag) != nil {
		if err := configureDatabase(flags, values, file, getenv); err != nil {
			return err
		}
	}
	var failed error
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || failed != nil || flag.Name == dbFlag || flag.Name == dbFileFlag {
			return
		}
		name := variableOf(flag.Name)
		if text, ok := getenv(name); ok {
			failed = set(flags, flag, name, strings.Split(text, ","))
		} else if texts, ok := values[flag.Name]; ok {
			failed = set(flags, flag, file+": "+flag.Name, texts)
		}
	})
	return failed
}

// environment returns an environment variable. An empty variable counts as unset, because
// service units and container definitions often pass on variables without a value.
func environment(name string) (text string, set bool) {
	text = os.Getenv(name)
	return text, text != ""
}

// variableOf returns the environment variable for a flag.
func variableOf(flag string) string {
	return "FAIRLEAD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func set(flags *pflag.FlagSet, flag *pflag.Flag, source string, texts []string) error {
	if flag.Value.Type() != "stringArray" {
		texts = []string{strings.Join(texts, ",")}
	}
	for _, text := range texts {
		if err := flags.Set(flag.Name, strings.TrimSpace(text)); err != nil {
			return usagef("%s: %w", source, err)
		}
	}
	return nil
}

// readConfig reads the flags and their values from a YAML file.
func readConfig(file string) (map[string][]string, error) {
	if file == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("read configuration: %w", err)
	}
	var document map[string]any
	if err := cli.DecodeYAML(file, raw, &document); err != nil {
		return nil, usagef("%w", err)
	}
	values := map[string][]string{}
	flatten("", document, values)
	return values, nil
}

// flatten converts nested keys to dotted ones, resolves aliases, and converts queue_size to
// queue-size.
func flatten(prefix string, node map[string]any, into map[string][]string) {
	for key, value := range node {
		key = prefix + key
		if nested, ok := value.(map[string]any); ok {
			if flag := strings.ReplaceAll(key, "_", "-"); named[flag] {
				for name, value := range nested {
					into[flag] = append(into[flag], fmt.Sprintf("%s=%v", name, value))
				}
				continue
			}
			flatten(key+".", nested, into)
			continue
		}
		if flag, ok := aliases[key]; ok {
			key = flag
		}
		key = strings.ReplaceAll(key, "_", "-")
		if list, ok := value.([]any); ok {
			for _, item := range list {
				into[key] = append(into[key], fmt.Sprint(item))
			}
			continue
		}
		into[key] = slices.Concat(into[key], []string{fmt.Sprint(value)})
	}
}
