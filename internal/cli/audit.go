package cli

import (
	"context"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) auditCommand() *cobra.Command {
	return s.prints(s.connects(noun("audit", "Query the audit log of changes", s.auditListCommand())))
}

func (s *session) auditListCommand() *cobra.Command {
	var filter fairleadv1.ListAuditRequest
	from, to := moment{past: true}, moment{past: true}
	var limit int
	cmd := verb("list", "List audit entries, newest first", s.runs(func(ctx context.Context, c *call) error {
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListAuditResponse, error) {
			return c.audit.ListAudit(ctx, &fairleadv1.ListAuditRequest{
				Actor: filter.GetActor(), Action: filter.GetAction(), Subject: filter.GetSubject(), From: from.proto(), To: to.proto(),
				PageSize: size, PageToken: token,
			})
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("AT", "ACTOR", "ROLE", "FROM", "ACTION", "SUBJECT", "TENANT", "ERROR")
		for _, e := range items {
			table.Add(e.GetAt(), e.GetActor(), e.GetRole(), e.GetFrom(), e.GetAction(), e.GetSubject(), e.GetTenant(), screen.Cell{Text: e.GetError(), Tone: screen.Bad})
		}
		return c.printTable(&fairleadv1.ListAuditResponse{Items: items, NextPageToken: next}, table)
	}))
	f := cmd.Flags()
	f.StringVar(&filter.Actor, "actor", "", "only entries by this actor")
	f.StringVar(&filter.Action, "action", "", "only calls to this API method, such as PauseQueue")
	f.StringVar(&filter.Subject, "subject", "", "only actions on this object, such as queue:mail")
	f.Var(&from, "from", "only entries at or after this time: a timestamp, or a duration such as 2h for two hours ago")
	f.Var(&to, "to", "only entries before this time: a timestamp, or a duration such as 1h for an hour ago")
	limits(cmd, &limit)
	return cmd
}
