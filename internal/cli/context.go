package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) contextCommand() *cobra.Command {
	cmd := noun("context", "Manage contexts, which store server URLs and tokens", s.contextListCommand(), s.contextUseCommand(), s.contextSetCommand(), s.contextDeleteCommand())
	cmd.Long = "Manage contexts. A context holds the URL and token of a server. Contexts are stored in\n" +
		"$XDG_CONFIG_HOME/fairlead/contexts.yaml, which only you can read. Tokens are never printed."
	return cmd
}

// shownContext is the printable part of a context.
type shownContext struct {
	Name    string `json:"name"`
	Server  string `json:"server"`
	Token   string `json:"token"` // source of the token: set, file:PATH or none
	Current bool   `json:"current"`
}

func (s *session) contextListCommand() *cobra.Command {
	cmd := verb("list", "List contexts", func(cmd *cobra.Command, _ []string) error {
		known, err := readContexts(cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		p, err := newPrinter(cmd.OutOrStdout(), s.format)
		if err != nil {
			return err
		}
		items := []shownContext{}
		for _, name := range slices.Sorted(maps.Keys(known.Contexts)) {
			t := known.Contexts[name]
			item := shownContext{Name: name, Server: t.Server, Token: "none", Current: name == known.Current}
			switch {
			case t.TokenFile != "":
				item.Token = "file:" + t.TokenFile
			case t.Token != "":
				item.Token = "set"
			}
			items = append(items, item)
		}
		return printContexts(p, items)
	})
	return s.prints(cmd)
}

func printContexts(p *printer, items []shownContext) error {
	if p.format != "table" {
		body, err := json.Marshal(map[string]any{"items": items})
		if err != nil {
			return err
		}
		return p.document(body)
	}
	table := p.Table("NAME", "SERVER", "TOKEN", "CURRENT")
	for _, item := range items {
		table.Add(item.Name, item.Server, item.Token, item.Current)
	}
	return table.Write()
}

func (s *session) contextUseCommand() *cobra.Command {
	cmd := verb("use NAME", "Switch to a context", func(cmd *cobra.Command, args []string) error {
		return changeContexts(cmd, func(known *contexts) (string, error) {
			if _, ok := known.Contexts[args[0]]; !ok {
				return "", failf(ExitNotFound, "context %q does not exist: list contexts with fairlead context list", args[0])
			}
			known.Current = args[0]
			return "is now current", nil
		})
	})
	cmd.ValidArgsFunction = first(s.contextNames)
	return cmd
}

func (s *session) contextSetCommand() *cobra.Command {
	var t target
	cmd := verb("set NAME", "Create or replace a context", func(cmd *cobra.Command, args []string) error {
		if t.Token == "-" {
			raw, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1<<16))
			if err != nil {
				return fmt.Errorf("read the token: %w", err)
			}
			t.Token = strings.TrimSpace(string(raw))
		}
		if t.Token != "" && t.TokenFile != "" {
			return Usagef("specify either --token or --token-file, not both")
		}
		if err := checkServer(t.Server); err != nil {
			return err
		}
		if err := (&target{Token: t.Token}).loadToken(); err != nil {
			return err
		}
		return changeContexts(cmd, func(known *contexts) (string, error) {
			known.Contexts[args[0]] = t
			if known.Current == "" {
				known.Current = args[0]
			}
			return "saved", nil
		})
	})
	cmd.Example = "  fairlead context set prod --server https://jobs.example.com --token-file ~/prod.token\n" +
		"  fairlead context set prod --server https://jobs.example.com --token - < prod.token"
	f := cmd.Flags()
	f.StringVar(&t.Server, "server", defaultServer, "URL of the server")
	f.StringVar(&t.Token, "token", "", "token to store, or - to read it from standard input (default: none)")
	f.StringVar(&t.TokenFile, "token-file", "", "file with the token, read by every command that uses the context (default: none)")
	cmd.ValidArgsFunction = first(s.contextNames)
	return cmd
}

func (s *session) contextDeleteCommand() *cobra.Command {
	cmd := verb("delete NAME", "Delete a context", func(cmd *cobra.Command, args []string) error {
		return changeContexts(cmd, func(known *contexts) (string, error) {
			if _, ok := known.Contexts[args[0]]; !ok {
				return "", failf(ExitNotFound, "context %q does not exist", args[0])
			}
			delete(known.Contexts, args[0])
			if known.Current == args[0] {
				known.Current = ""
			}
			return "deleted", nil
		})
	})
	cmd.ValidArgsFunction = first(s.contextNames)
	return cmd
}

// changeContexts changes the file of contexts and prints the state of the changed context.
func changeContexts(cmd *cobra.Command, change func(*contexts) (string, error)) error {
	known, err := readContexts(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	is, err := change(known)
	if err != nil {
		return err
	}
	if err := known.write(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "context %s %s\n", screen.Clean(cmd.Flags().Arg(0)), is)
	return err
}
