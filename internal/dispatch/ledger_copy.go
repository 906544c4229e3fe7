package dispatch

import "maps"

// Copy returns a ledger that says the same and goes its own way from now on: who only asks
// what claims would do must not make accounts in the one that claims use.
func (l *Ledger) Copy() *Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	other := &Ledger{
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
