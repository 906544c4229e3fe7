package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/screen"
)

// longestReason limits how much of a node's explanation is shown.
const longestReason = 4 << 10

// readyCommand returns a health check for environments without other programs, such as a
// container image without a shell.
func (s *session) readyCommand() *cobra.Command {
	cmd := s.connects(verb("ready", "Check whether a server is ready to run jobs", s.runs(func(ctx context.Context, c *call) error {
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.url, "/")+"/readyz", http.NoBody)
		if err != nil {
			return Usagef("--server %s: %w", c.url, err)
		}
		response, err := c.web.Do(request)
		if err != nil {
			return failf(ExitUnavailable, "cannot reach %s: %w", c.url, err)
		}
		reason, err := io.ReadAll(io.LimitReader(response.Body, longestReason))
		if err = errors.Join(err, response.Body.Close()); err != nil {
			return failf(ExitUnavailable, "read the response from %s: %w", c.url, err)
		}
		if response.StatusCode != http.StatusOK {
			return failf(ExitUnavailable, "%s is not ready: %s", c.url, screen.Clean(strings.TrimSpace(string(reason))))
		}
		_, err = fmt.Fprintln(c.Out, "ready")
		return err
	})))
	cmd.Long = "Check whether a server is ready to run jobs: its node holds a lease and its database responds.\n" +
		"The command exits with code 6 if the server is not ready. It needs no token."
	return cmd
}
