package audit

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/server/internal/authn"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// sumEvery is the interval at which sums are written. A killed process loses the sums that
// it has not written.
const sumEvery = 10 * time.Second

// Sums counts actions that are too frequent to be recorded individually.
type Sums struct {
	mu  sync.Mutex
	sum map[summedCall]*summed
}

type summedCall struct {
	actor, from, action string
	role                access.Role
	refusal             string // reason for the refusal
}

type summed struct {
	Requests int64 `json:"requests"`
	Jobs     int64 `json:"jobs,omitempty"`
	First    int64 `json:"first_id,string,omitempty"`
	Last     int64 `json:"last_id,string,omitempty"`
}

func NewSums() *Sums { return &Sums{sum: map[summedCall]*summed{}} }

func (s *Sums) add(ctx context.Context, endpoint *rest.Endpoint, answer proto.Message) {
	entry := NewEntry(ctx, endpoint)
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.of(summedCall{entry.Actor, entry.From, entry.Action, entry.Role, ""})
	sum.Requests++
	if stored, ok := answer.(*fairleadv1.EnqueueJobsResponse); ok {
		sum.Jobs += int64(len(stored.GetIds()))
		for _, id := range stored.GetIds() {
			sum.Last = max(sum.Last, id)
			if sum.First == 0 || id < sum.First {
				sum.First = id
			}
		}
	}
}

// Refused counts a request of an unknown caller.
func (s *Sums) Refused(from, action, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sum) >= authn.MaxAddresses {
		from = "" // one of very many addresses
	}
	s.of(summedCall{from: from, action: action, refusal: why}).Requests++
}

// of returns the sum of a call. The caller must hold the lock.
func (s *Sums) of(call summedCall) *summed {
	sum := s.sum[call]
	if sum == nil {
		sum = &summed{}
		s.sum[call] = sum
	}
	return sum
}

// take returns the entries for the current sums and resets them.
func (s *Sums) take() []access.Entry {
	s.mu.Lock()
	taken := s.sum
	s.sum = map[summedCall]*summed{}
	s.mu.Unlock()
	var entries []access.Entry
	for call, sum := range taken {
		after, err := json.Marshal(sum)
		if err != nil {
			continue // encoding numbers cannot fail
		}
		entries = append(entries, access.Entry{Actor: call.actor, Role: call.role, From: call.from, Action: call.action, Subject: "job", After: after, Error: call.refusal})
	}
	return entries
}

// WriteSums writes sums until ctx ends, and then a last time.
func (a *Recorder) WriteSums(ctx context.Context) {
	ticker := time.NewTicker(sumEvery)
	defer ticker.Stop()
	for more := true; more; {
		select {
		case <-ctx.Done():
			more = false
		case <-ticker.C:
		}
		if entries := a.Sums.take(); len(entries) > 0 {
			a.Write(ctx, entries...)
		}
	}
}
