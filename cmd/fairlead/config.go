package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead/internal/cli"
)

// aliases are keys of older configuration files and the flags they set.
var aliases = map[string]string{
	"scheduler.poll_interval":   "poll",
	"executor.worker_pool_size": "slots",
	"executor.request_timeout":  "request-timeout",
}

// named are flags whose values are NAME=VALUE. In a file they are a list of these, or
// the names with their values.
var named = map[string]bool{"sweep-database": true, retentionFlag: true, kindRetentionFlag: true}

// configure gives every flag that the command line left alone its value from
// the environment (FAIRLEAD_QUEUE_SIZE for --queue-size) or else from the YAML
// file (queue-size or queue_size). A key that is no flag is an error: a typing
// mistake must not go unnoticed.
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

// environment returns a variable. One that is empty counts as not set: so are those that a
// unit or a composition of containers passes on without a value.
func environment(name string) (text string, set bool) {
	text = os.Getenv(name)
	return text, text != ""
}

// variableOf is the variable of the environment that stands for a flag.
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

// readConfig reads a YAML file into flag names and their values.
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

// flatten turns nested keys into dotted ones, resolves aliases, and writes
// queue_size as queue-size.
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
