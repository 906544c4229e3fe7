package pipeline

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/server/internal/authn"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// watchJobs returns the endpoint of a stream that the test controls.
func watchJobs(stream func(ctx context.Context, send func(proto.Message) error) error) *rest.Endpoint {
	return &rest.Endpoint{
		Method: fairleadv1.File_fairlead_v1_job_proto.Services().ByName("JobService").Methods().ByName("WatchJob"), Access: &fairleadv1.Access{Role: string(access.RoleViewer)},
		Stream: func(ctx context.Context, _ proto.Message, send func(proto.Message) error) error {
			return stream(ctx, send)
		},
	}
}

// A stream may be about to send when its caller's token is revoked.
func TestNothingIsSentToACallerThatIsNotBelievedAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		believed := true
		c := caller.Caller{Identity: caller.Identity{Name: "c", Role: access.RoleViewer}, Since: time.Now(), RecheckEvery: time.Second, Recheck: func(context.Context) error {
			if !believed {
				return caller.ErrRevoked
			}
			return nil
		}}
		sent := 0
		var refusal error
		endpoint := (&Pipeline{}).Around(watchJobs(func(_ context.Context, send func(proto.Message) error) error {
			time.Sleep(5 * time.Second)
			if err := send(&fairleadv1.Job{}); err != nil {
				t.Errorf("while it is believed: %v", err)
			}
			believed = false
			time.Sleep(5 * time.Second)
			refusal = send(&fairleadv1.Job{})
			return nil
		}))
		err := endpoint.Stream(caller.With(t.Context(), c), &fairleadv1.GetJobRequest{}, func(proto.Message) error { sent++; return nil })
		if sent != 1 || !errors.Is(refusal, caller.ErrRevoked) || !errors.Is(err, caller.ErrRevoked) {
			t.Errorf("%d were sent; the stream is told %v, the caller %v", sent, refusal, err)
		}
	})
}

func TestWhoIsBelievedForGoodIsNotLookedUp(t *testing.T) {
	ctx := caller.With(t.Context(), caller.Caller{Identity: caller.Local})
	lasting, ended := authn.WhileValid(ctx)
	if err := errors.New("oh"); lasting != ctx || !errors.Is(ended(err), err) || ended(nil) != nil {
		t.Error("the call does not end as it ended")
	}
}

func TestADatabaseThatIsTooSlowIsUnavailable(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	late := fmt.Errorf("query: %w", context.DeadlineExceeded)
	for name, c := range map[string]struct {
		ctx             context.Context
		err             error
		wantUnavailable bool
	}{
		"too slow":                       {t.Context(), late, true},
		"too slow for who has gone":      {gone, late, false},
		"broken":                         {t.Context(), errors.New("broken"), false},
		"unavailable, which says enough": {t.Context(), fmt.Errorf("%w: %w", fairlead.ErrUnavailable, context.DeadlineExceeded), true},
		"nothing":                        {t.Context(), nil, false},
	} {
		err := Unavailable(c.ctx, c.err)
		if errors.Is(err, fairlead.ErrUnavailable) != c.wantUnavailable || (err == nil) != (c.err == nil) {
			t.Errorf("%s: it is %v", name, err)
		}
		if c.err != nil && !errors.Is(err, errors.Unwrap(c.err)) && errors.Unwrap(c.err) != nil {
			t.Errorf("%s: %v does not say why", name, err)
		}
	}
}
