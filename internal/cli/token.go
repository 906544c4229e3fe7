package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) tokenCommand() *cobra.Command {
	return s.prints(s.connects(noun("token", "Manage API tokens", s.tokenCreateCommand(), s.tokenListCommand(), s.tokenDeleteCommand())))
}

// newToken holds the flags of a new token.
type newToken struct {
	db, name, role string
	tenants        []string
	kinds, queues  []string // for a worker
	expires        moment
}

func (s *session) tokenCreateCommand() *cobra.Command {
	var n newToken
	cmd := verb("create", "Create a token and print its secret once", nil)
	cmd.Long = cmd.Short + ".\n\nThe command writes to the database directly if you use --db or --db-file, or if FAIRLEAD_DB or FAIRLEAD_DB_FILE\nis set and neither a server nor a token is specified. Use this to create the first token or to replace a lost one.\nOtherwise the command calls a server and requires a token with the admin role."
	cmd.Example = "  fairlead token create --db sqlite://fairlead.db --role admin --name me > me.token\n" +
		"  fairlead token create --role submitter --name shop --tenant shop --expires 90d\n" +
		"  fairlead token create --role worker --name mailer --kind mail --queue slow"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := n.checkGiven(); err != nil {
			return err
		}
		if cmd.Flags().Changed("tenant") && (len(n.tenants) == 0 || slices.Contains(n.tenants, "")) {
			return Usagef("--tenant must not be empty: name a tenant, or omit the flag for access to all tenants")
		}
		for flag, names := range map[string][]string{"kind": n.kinds, "queue": n.queues} {
			if cmd.Flags().Changed(flag) && (len(names) == 0 || slices.Contains(names, "")) {
				return Usagef("--%s must not be empty: name a %[1]s, or omit the flag to allow all of them", flag)
			}
		}
		if given := cmd.Flags().Changed("db") || cmd.Flags().Changed("db-file"); given || !s.namesServer() {
			if err := s.options.Database(cmd, args); err != nil {
				return err
			}
		}
		if n.db != "" || cmd.Flags().Changed("db") {
			return s.createInDatabase(cmd, n)
		}
		return s.runs(func(ctx context.Context, c *call) error { return n.create(ctx, c) })(cmd, args)
	}
	f := cmd.Flags()
	s.options.DatabaseFlags(f, &n.db, "")
	f.StringVar(&n.name, "name", "", "unique display name of the token (required)")
	f.StringVar(&n.role, "role", "", "role of the token: "+strings.Join(roles, ", ")+" (required)")
	f.StringSliceVar(&n.tenants, "tenant", nil, "tenant that the token may access (repeatable; default: all tenants)")
	f.StringSliceVar(&n.kinds, "kind", nil, "kind of job that a worker may run (repeatable; default: all kinds, including http)")
	f.StringSliceVar(&n.queues, "queue", nil, "queue that a worker may serve (repeatable; default: all queues)")
	f.Var(&n.expires, "expires", "expiration of the token: a timestamp, or a duration from now such as 90d (default: never)")
	complete(cmd, "role", oneOf(roles...))
	complete(cmd, "tenant", s.asked(tenantNames))
	complete(cmd, "kind", s.asked(kindNames))
	complete(cmd, "queue", s.asked(queueNames))
	return cmd
}

// checkGiven returns an error with the required flags that are missing.
func (n newToken) checkGiven() error {
	var missing []string
	if n.name == "" {
		missing = append(missing, "--name")
	}
	if n.role == "" {
		missing = append(missing, "--role ("+strings.Join(roles, ", ")+")")
	}
	if len(missing) > 0 {
		return Usagef("specify %s", strings.Join(missing, " and "))
	}
	return nil
}

func (n newToken) create(ctx context.Context, c *call) error {
	answer, err := c.tokens.CreateToken(ctx, &fairleadv1.CreateTokenRequest{
		Name: n.name, Role: n.role, Tenants: n.tenants, Kinds: n.kinds, Queues: n.queues, ExpiresAt: n.expires.proto(),
	})
	if err != nil {
		return err
	}
	if err := printSecret(c.printer, c.errors, answer); err != nil {
		return err
	}
	return n.warnOfLockOut(ctx, c)
}

// warnOfLockOut prints a warning if no token may create others: a server that required no
// token so far will require one from its next start on.
func (n newToken) warnOfLockOut(ctx context.Context, c *call) error {
	if n.role == string(access.RoleAdmin) {
		return nil
	}
	all, err := c.tokens.ListTokens(ctx, &fairleadv1.ListTokensRequest{})
	if err != nil || slices.ContainsFunc(all.GetItems(), func(t *fairleadv1.Token) bool { return t.GetRole() == string(access.RoleAdmin) }) {
		return err
	}
	_, err = fmt.Fprintln(c.errors.Out, "no token has the role admin: once the server restarts, callers need a token, and no token can create others; create one with --role admin")
	return err
}

// createInDatabase creates a token without a server.
func (s *session) createInDatabase(cmd *cobra.Command, n newToken) error {
	p, err := newPrinter(cmd.OutOrStdout(), s.format)
	if err != nil {
		return err
	}
	token, secret, err := s.options.AddToken(cmd.Context(), n.db, access.Token{
		Name: n.name, Role: access.Role(n.role), Tenants: n.tenants, Kinds: n.kinds, Queues: n.queues, ExpiresAt: n.expires.at,
	})
	if err != nil {
		return Typed(cmd, err)
	}
	answer := &fairleadv1.CreateTokenResponse{Secret: secret, Token: &fairleadv1.Token{
		Id: token.ID, Name: token.Name, Role: string(token.Role), Tenants: token.Tenants, Kinds: token.Kinds, Queues: token.Queues,
	}}
	if !token.CreatedAt.IsZero() {
		answer.Token.CreatedAt = timestamppb.New(token.CreatedAt)
	}
	if !token.ExpiresAt.IsZero() {
		answer.Token.ExpiresAt = timestamppb.New(token.ExpiresAt)
	}
	return printSecret(p, &screen.Screen{Out: cmd.ErrOrStderr()}, answer)
}

// printSecret writes the secret to standard output, and everything else to another screen.
func printSecret(p *printer, beside *screen.Screen, answer *fairleadv1.CreateTokenResponse) error {
	return p.print(answer, func() error {
		token := answer.GetToken()
		fmt.Fprintf(beside.Out, "created token %d %q; its secret is shown only once:\n", token.GetId(), token.GetName())
		_, err := fmt.Fprintln(p.Out, answer.GetSecret())
		return err
	})
}

func (s *session) tokenListCommand() *cobra.Command {
	return verb("list", "List tokens", s.runs(func(ctx context.Context, c *call) error {
		all, err := c.tokens.ListTokens(ctx, &fairleadv1.ListTokensRequest{})
		if err != nil {
			return err
		}
		table := c.Table("ID", "NAME", "ROLE", "TENANTS", "KINDS", "QUEUES", "CREATED", "EXPIRES", "LAST USED")
		for _, t := range all.GetItems() {
			expires := screen.Cell{Text: "never"}
			switch {
			case t.GetExpired():
				expires = screen.Cell{Text: "expired", Tone: screen.Bad}
			case t.GetExpiresAt() != nil:
				expires.Text = c.When(t.GetExpiresAt().AsTime())
			}
			table.Add(t.GetId(), t.GetName(), t.GetRole(), namesOrAll(t.GetTenants()), namesOrAll(t.GetKinds()), namesOrAll(t.GetQueues()), t.GetCreatedAt(), expires, t.GetLastUsed())
		}
		return c.printTable(all, table)
	}))
}

// namesOrAll returns the names to which a token is restricted.
func namesOrAll(names []string) string {
	if len(names) == 0 {
		return "(all)"
	}
	return strings.Join(names, ",")
}

func (s *session) tokenDeleteCommand() *cobra.Command {
	cmd := verb("delete ID", "Delete a token; it stops working immediately", s.withID(func(ctx context.Context, c *call, id int64) error {
		answer, err := c.tokens.DeleteToken(ctx, &fairleadv1.DeleteTokenRequest{Id: id})
		if err != nil {
			return err
		}
		return c.say(answer, "token %d deleted", id)
	}))
	cmd.ValidArgsFunction = first(s.asked(tokenIDs))
	return cmd
}
