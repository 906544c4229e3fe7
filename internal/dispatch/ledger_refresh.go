package dispatch

import "math"

// Unread returns what this node has started and other nodes cannot have read yet, as
// totals of their buckets.
func (l *Ledger) Unread() []Count {
	l.mu.Lock()
	defer l.mu.Unlock()
	var counts []Count
	for key := range l.unread {
		counts = append(counts, Count{Scope: key.scope, Tenant: key.tenant, Bucket: key.bucket, Started: l.own[key], Nodes: 1})
	}
	return counts
}

// Written records that other nodes can read these counts.
func (l *Ledger) Written(counts []Count) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, count := range counts {
		if key := (counted{count.Scope, count.Tenant, count.Bucket}); l.own[key] == count.Started {
			delete(l.unread, key)
		}
	}
}

// Refresh takes over what other nodes have started in the present bucket and the one
// before, and begins the present bucket. Of what the first Refresh reads nothing is
// charged: the node was not there to share it. party names a tenant of a scope; it is
// asked for those that have to be charged.
func (l *Ledger) Refresh(bucket int64, others []Count, party func(scope, tenant string) Party) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.refreshed {
		l.begin(bucket)
	}
	l.bucket = bucket
	for _, s := range l.scopes {
		s.nodes = 1
	}
	read := make(map[counted]int64, len(others))
	for _, other := range others {
		key := counted{other.Scope, other.Tenant, other.Bucket}
		read[key] = other.Started
		s := l.scope(other.Scope)
		s.nodes = max(s.nodes, other.Nodes+1)
		if more := other.Started - l.others[key]; l.refreshed && more > 0 {
			l.charge(party(other.Scope, other.Tenant), int(more), func(*account, float64) {})
		}
	}
	l.others, l.refreshed = read, true
	for key := range l.own {
		if key.bucket < bucket-1 && !l.unread[key] || key.bucket < bucket-windowBuckets {
			delete(l.own, key)
			delete(l.unread, key)
		}
	}
	for _, s := range l.scopes {
		s.families.refresh(bucket, s.nodes)
		for _, family := range s.families.accounts {
			family.tenants.refresh(bucket, s.nodes)
		}
	}
}

// begin gives what was counted before the clock was read to the present bucket.
func (l *Ledger) begin(bucket int64) {
	for key, n := range l.own {
		delete(l.own, key)
		delete(l.unread, key)
		key.bucket = bucket
		l.own[key], l.unread[key] = n, true
	}
	for _, s := range l.scopes {
		s.families.begin(bucket)
		for _, family := range s.families.accounts {
			family.tenants.begin(bucket)
		}
	}
}

func (p *pot) begin(bucket int64) {
	for _, a := range p.accounts {
		had := a.sum(0)
		a.note(bucket, had)
	}
}

// refresh makes leads anew, of what accounts are ahead of the least, and forgets the
// accounts that have had nothing for a minute. What all have had is taken from all, so that
// sums stay so small that they are exact.
func (p *pot) refresh(bucket int64, nodes int) {
	p.level()
	least := p.had
	p.had, p.lead = 0, 0
	for name, a := range p.accounts {
		recent := a.sum(bucket)
		if recent == 0 && !a.active {
			delete(p.accounts, name)
			continue
		}
		a.had = min(a.had-least, recent)
		a.lead = math.Floor(max(0, a.had) / takenBackBy(nodes))
	}
}

// takenBackBy is what a node divides by of what an account is ahead. Several nodes see
// each other's starts a second late: if all of them together took back all of it, they
// would swing to and fro.
func takenBackBy(nodes int) float64 {
	if nodes == 1 {
		return 1
	}
	return 2 * float64(nodes)
}

// note adds to what was had in a bucket.
func (a *account) note(bucket int64, more float64) {
	a.forget(bucket)
	a.recent[slot(bucket)] += more
}

// sum is what was had within a minute.
func (a *account) sum(bucket int64) (sum float64) {
	a.forget(bucket)
	for _, had := range a.recent {
		sum += had
	}
	return sum
}

// forget clears the buckets that are older than a minute.
func (a *account) forget(bucket int64) {
	if bucket-a.at >= windowBuckets || bucket < a.at-windowBuckets {
		clear(a.recent[:])
	}
	for b := max(a.at, bucket-windowBuckets) + 1; b <= bucket; b++ {
		a.recent[slot(b)] = 0
	}
	a.at = bucket
}

func slot(bucket int64) int { return int(((bucket % windowBuckets) + windowBuckets) % windowBuckets) }
