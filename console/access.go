package console

import (
	"fmt"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// auditPage is what was done, and by whom.
type auditPage struct {
	Entries []*fairleadv1.AuditEntry
	Next    string
}

// rowsAtOnce is how many rows a list shows unless it says otherwise.
const rowsAtOnce = 50

func loadAudit(v *visit) (any, error) {
	from, err := v.timeParameter("from")
	if err != nil {
		return nil, err
	}
	to, err := v.timeParameter("to")
	if err != nil {
		return nil, err
	}
	found, err := v.audit.ListAudit(v.ctx, &fairleadv1.ListAuditRequest{
		Actor: v.Get("actor"), Action: v.Get("action"), Subject: v.Get("subject"), From: from, To: to, PageSize: rowsAtOnce, PageToken: v.Get("page"),
	})
	if err != nil {
		return nil, err
	}
	return &auditPage{Entries: found.GetItems(), Next: found.GetNextPageToken()}, nil
}

// timeParameter is a time in the address: as RFC 3339, or as browsers send what a person
// chose, which is in the viewer's zone.
func (v *visit) timeParameter(name string) (*timestamppb.Timestamp, error) {
	given := v.Get(name)
	if given == "" {
		return nil, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, given); err == nil {
		return timestamppb.New(at), nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if at, err := time.ParseInLocation(layout, given, v.Zone); err == nil {
			return timestamppb.New(at), nil
		}
	}
	return nil, invalid(name, "must be a time as 2026-01-31T12:00:00Z")
}

// invalid is the error of a parameter.
func invalid(name, message string) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("%s: %s", name, message))
}

// LocalTime is a parameter as browsers want to be given a time.
func (v *visit) LocalTime(name string) string {
	at, err := v.timeParameter(name)
	if err != nil || at == nil {
		return ""
	}
	return at.AsTime().In(v.Zone).Format("2006-01-02T15:04:05")
}

func loadTokens(v *visit) (any, error) {
	tokens, err := v.tokens.ListTokens(v.ctx, &fairleadv1.ListTokensRequest{})
	if err != nil {
		return nil, err
	}
	return tokens.GetItems()[:min(len(tokens.GetItems()), maxRows)], nil
}
