package console

import (
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// auditPage shows the audit log.
type auditPage struct {
	Entries []*fairleadv1.AuditEntry
	Period  *period
	Next    string
}

func loadAudit(v *visit) (any, error) {
	p := v.parameters()
	period := p.period("")
	request := &fairleadv1.ListAuditRequest{
		Actor: p.text("actor"), Action: p.text("action"), Subject: p.text("subject"), From: period.starts(), To: period.ends(), PageSize: listRows, PageToken: p.page(),
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	found, err := v.audit.ListAudit(v.ctx, request)
	if err != nil {
		return nil, err
	}
	return &auditPage{Entries: found.GetItems(), Period: period, Next: found.GetNextPageToken()}, nil
}

func loadTokens(v *visit) (any, error) {
	if err := v.only(); err != nil {
		return nil, err
	}
	tokens, err := v.tokens.ListTokens(v.ctx, &fairleadv1.ListTokensRequest{})
	if err != nil {
		return nil, err
	}
	return tokens.GetItems()[:min(len(tokens.GetItems()), maxRows)], nil
}
