package dispatch

import (
	"math"
	"sync"
)

// PastStarts records the tenants' past starts in fair scopes as seen by one node: its own starts
// exactly, and other nodes' starts as last read.
//
// Every account has two sums, in which each start is multiplied by its cost. The cost
// depends on the account's weight. had counts the starts of all nodes. lead decides which
// jobs are claimed: it consists of the node's own starts since the last Refresh, and the
// node's part of the account's lead at that time. Each node compensates only for its own
// part. If several nodes each compensated for the whole lead, together they would overshoot.
//
// A claim raises the tenants that it finds to the minimum of the tenants found by the
// previous claim. A tenant that returns, or that was at its cap, therefore starts level with
// the others and has not saved up any starts. A lead never exceeds the starts of one minute.
type PastStarts struct {
	mu        sync.Mutex
	bucket    int64
	scopes    map[string]*scope
	own       map[counted]int64 // all starts of this node, in recent buckets
	unread    map[counted]bool  // those in own that other nodes cannot have read yet
	others    map[counted]int64 // last read totals of the other nodes
	refreshed bool
}

// windowBuckets is the number of ten-second buckets that overlap with a minute.
const windowBuckets = 7

// scope contains the data of a fair scope.
type scope struct {
	families pot
	nodes    int // number of nodes that start its jobs, including this one
}

// pot contains the accounts that share one whole.
type pot struct {
	accounts  map[string]*account
	had, lead float64 // minimum of the accounts found by the last claim
}

// account contains the past starts of a tenant or a family.
type account struct {
	had, lead float64
	active    bool // whether the last claim found jobs of it that could start
	recent    [windowBuckets]float64
	at        int64 // bucket of the newest entry in recent
	tenants   pot   // for families
}

// counted identifies a number of starts.
type counted struct {
	scope, tenant string
	bucket        int64
}

// Count is the number of jobs that were started for one tenant in one bucket.
type Count struct {
	Scope, Tenant string
	Bucket        int64
	Started       int64
	Nodes         int // number of nodes that have started them
}

// NewPastStarts returns a PastStarts without any starts.
func NewPastStarts() *PastStarts {
	return &PastStarts{scopes: map[string]*scope{}, own: map[counted]int64{}, unread: map[counted]bool{}, others: map[counted]int64{}}
}

// Shares holds the shares that one claim uses.
type Shares struct {
	pastStarts *PastStarts
	known      map[Party]*Share
	wholes     map[Party]*Share // families and scopes, with some fields empty
}

// Open returns the shares for one claim.
func (l *PastStarts) Open() *Shares {
	return &Shares{pastStarts: l, known: map[Party]*Share{}, wholes: map[Party]*Share{}}
}

// Of returns the share of party p.
func (s *Shares) Of(p Party) *Share {
	if share := s.known[p]; share != nil {
		return share
	}
	s.pastStarts.mu.Lock()
	defer s.pastStarts.mu.Unlock()
	of := s.pastStarts.scope(p.Scope)
	family := of.families.account(p.Family)
	share := &Share{
		Weight: p.Weight, Had: family.tenants.floored(family.tenants.account(p.Tenant)), party: p,
		Of: s.whole(Party{Scope: p.Scope, Family: p.Family}, func(whole *Share) {
			whole.Weight, whole.Had = p.FamilyWeight, of.families.floored(family)
			whole.Of = s.whole(Party{Scope: p.Scope}, func(*Share) {})
		}),
	}
	s.known[p] = share
	return share
}

// whole returns the share of a family or scope. It calls fill for a new one.
func (s *Shares) whole(name Party, fill func(*Share)) *Share {
	share := s.wholes[name]
	if share == nil {
		share = &Share{}
		fill(share)
		s.wholes[name] = share
	}
	return share
}

// Charge records the jobs started by a claim that read only a few lanes. It does not change
// which tenants count as having jobs.
func (s *Shares) Charge(started map[Party]int) {
	s.pastStarts.mu.Lock()
	defer s.pastStarts.mu.Unlock()
	for party, n := range started {
		s.pastStarts.start(party, n)
	}
}

// Close records the lanes found and the jobs started by a claim that read all of its node's
// lanes.
func (s *Shares) Close(lanes []*Lane, started map[Party]int) {
	found := map[Party]bool{}
	for _, lane := range lanes {
		if lane.Share != nil && lane.Others == nil && lane.runnable() {
			found[lane.Share.party] = true
		}
	}
	for party := range started {
		found[party] = true
	}
	if len(found) == 0 {
		return
	}
	s.pastStarts.mu.Lock()
	defer s.pastStarts.mu.Unlock()
	s.pastStarts.found(found)
	for party, n := range started {
		s.pastStarts.start(party, n)
	}
	s.pastStarts.level(found)
}

// found raises the accounts of parties to the minimum of the previous claim. Close calls
// found, start and level in this order: a tenant that had no jobs for a while must be raised
// before its new starts are counted, and the new minimum includes them.
func (l *PastStarts) found(parties map[Party]bool) {
	for p := range parties {
		of := l.scope(p.Scope)
		family := of.families.account(p.Family)
		of.families.raise(family)
		family.tenants.raise(family.tenants.account(p.Tenant))
	}
}

// start counts starts of this node.
func (l *PastStarts) start(p Party, n int) {
	l.charge(p, n, func(a *account, more float64) { a.lead += more })
	key := counted{p.Scope, p.Tenant, l.bucket}
	l.own[key] += int64(n)
	l.unread[key] = true
}

// charge counts starts of any node.
func (l *PastStarts) charge(p Party, n int, also func(a *account, more float64)) {
	family := l.scope(p.Scope).families.account(p.Family)
	for _, part := range []struct {
		account *account
		weight  int
	}{{family, p.FamilyWeight}, {family.tenants.account(p.Tenant), p.Weight}} {
		more := float64(n) * costOf(part.weight)
		part.account.had += more
		part.account.note(l.bucket, more)
		also(part.account, more)
	}
}

// level records which accounts a claim has found, and their minimum.
func (l *PastStarts) level(parties map[Party]bool) {
	pots := map[*pot]bool{}
	for p := range parties {
		families := &l.scope(p.Scope).families
		pots[families], pots[&families.account(p.Family).tenants] = true, true
	}
	for pot := range pots {
		for _, a := range pot.accounts {
			a.active = false
		}
	}
	for p := range parties {
		family := l.scope(p.Scope).families.account(p.Family)
		family.active, family.tenants.account(p.Tenant).active = true, true
	}
	for pot := range pots {
		pot.level()
	}
}

func (l *PastStarts) scope(name string) *scope {
	s := l.scopes[name]
	if s == nil {
		s = &scope{nodes: 1}
		l.scopes[name] = s
	}
	return s
}

// account returns the account with a name. A new account is level with the others.
func (p *pot) account(name string) *account {
	a := p.accounts[name]
	if a == nil {
		if p.accounts == nil {
			p.accounts = map[string]*account{}
		}
		a = &account{had: p.had, lead: p.lead}
		p.accounts[name] = a
	}
	return a
}

// floored returns the lead of an account from the point of view of a claim that finds it.
func (p *pot) floored(a *account) float64 { return max(a.lead, p.lead) }

func (p *pot) raise(a *account) { a.had, a.lead = max(a.had, p.had), max(a.lead, p.lead) }

// level computes the minimum of the active accounts, if there are any.
func (p *pot) level() {
	had, lead := math.Inf(1), math.Inf(1)
	for _, a := range p.accounts {
		if a.active {
			had, lead = min(had, a.had), min(lead, a.lead)
		}
	}
	if !math.IsInf(had, 1) {
		p.had, p.lead = had, lead
	}
}
