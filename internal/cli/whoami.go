package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// whoamiCommand returns the command for users who wonder why a request is rejected: it
// shows the server and the identity in use.
func (s *session) whoamiCommand() *cobra.Command {
	return s.prints(s.connects(verb("whoami", "Show your identity, role and tenants on a server", s.runs(func(ctx context.Context, c *call) error {
		who, err := c.tokens.WhoAmI(ctx, &fairleadv1.WhoAmIRequest{})
		if err != nil {
			return err
		}
		return c.print(who, func() error {
			name, tenants := who.GetName(), "all tenants"
			if name == "" {
				name = "anonymous caller"
			}
			if len(who.GetTenants()) > 0 {
				tenants = "tenants " + strings.Join(who.GetTenants(), ", ")
			}
			_, err := fmt.Fprintf(c.Out, "%s: role %s for %s on %s\n", name, who.GetRole(), tenants, c.url)
			return err
		})
	}))))
}
