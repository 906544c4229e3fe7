package dispatch

import "maps"

// Copy returns an independent copy. Callers that only simulate claims use a copy,
// because they must not create accounts where real claims would find them.
func (l *PastStarts) Copy() *PastStarts {
	l.mu.Lock()
	defer l.mu.Unlock()
	other := &PastStarts{
		bucket: l.bucket, scopes: make(map[string]*scope, len(l.scopes)),
		own: maps.Clone(l.own), unread: maps.Clone(l.unread), others: maps.Clone(l.others), refreshed: l.refreshed,
	}
	for name, s := range l.scopes {
		other.scopes[name] = &scope{families: s.families.copy(), nodes: s.nodes}
	}
	return other
}

func (p *pot) copy() pot {
	other := pot{accounts: make(map[string]*account, len(p.accounts)), had: p.had, lead: p.lead}
	for name, a := range p.accounts {
		same := *a
		same.tenants = a.tenants.copy()
		other.accounts[name] = &same
	}
	return other
}
