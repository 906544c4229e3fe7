package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// Build describes how a program was built.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // empty if unknown
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// VersionCommand returns the command that prints the build information. It needs no server.
func VersionCommand(build Build) *cobra.Command {
	s := &session{}
	cmd := verb("version", "Print version and build information", func(cmd *cobra.Command, _ []string) error {
		out, err := newPrinter(cmd.OutOrStdout(), s.format)
		if err != nil {
			return err
		}
		if s.format != "table" {
			body, err := json.Marshal(build)
			if err != nil {
				return err
			}
			return out.document(body)
		}
		commit := build.Commit
		if commit == "" {
			commit = "unknown"
		}
		_, err = fmt.Fprintf(out.Out, "fairlead %s commit %s %s %s/%s\n", build.Version, commit, build.Go, build.OS, build.Arch)
		return err
	})
	return s.prints(cmd)
}
