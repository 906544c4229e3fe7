package dispatch

import "math"

// Unread returns the starts of this node that other nodes cannot have read yet. Each Count
// is the total for its bucket.
func (l *PastStarts) Unread() []Count {
	l.mu.Lock()
	defer l.mu.Unlock()
	var counts []Count
	for key := range l.unread {
		counts = append(counts, Count{Scope: key.scope, Tenant: key.tenant, Bucket: key.bucket, Started: l.own[key], Nodes: 1})
	}
	return counts
}

// Written records that other nodes can now read counts.
func (l *PastStarts) Written(counts []Count) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, count := range counts {
		if key := (counted{count.Scope, count.Tenant, count.Bucket}); l.own[key] == count.Started {
			delete(l.unread, key)
		}
	}
}

// Refresh adds the jobs that other nodes started in the current and the previous bucket, and
// makes bucket the current one. The first Refresh does not charge these starts, because the
// node was not yet running when they were shared out. For every tenant that must be charged,
// Refresh calls party to get the tenant's party in the scope.
func (l *PastStarts) Refresh(bucket int64, others []Count, party func(scope, tenant string) Party) {
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

// begin moves the counts from before the clock was read to the current bucket.
func (l *PastStarts) begin(bucket int64) {
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

// refresh recomputes leads from the distance of accounts to the minimum, and removes the
// accounts without starts for a minute. It subtracts the common part from all sums, so that
// they stay small enough to be exact.
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

// takenBackBy returns the divisor for the part of an account's lead that a node
// compensates. Several nodes see each other's starts a second late: if together they
// compensated everything, they would oscillate.
func takenBackBy(nodes int) float64 {
	if nodes == 1 {
		return 1
	}
	return 2 * float64(nodes)
}

// note adds starts to a bucket.
func (a *account) note(bucket int64, more float64) {
	a.forget(bucket)
	a.recent[slot(bucket)] += more
}

// sum returns the starts within a minute.
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
