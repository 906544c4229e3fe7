package seal_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/seal"
)

func TestMessagesOfAlertsAreSealed(t *testing.T) {
	ctx := t.Context()
	inner, _ := openFile(t)
	store := seal.Wrap(inner, keys(t))
	if _, err := alert.NewClient(store).Set(ctx, alert.Rule{Name: "a", URL: "https://example.org/"}); err != nil {
		t.Fatal(err)
	}
	turn, taken, err := store.TakeLook(ctx, time.Second)
	if err != nil || !taken {
		t.Fatalf("the look was taken: %v, %v", taken, err)
	}
	message := &fairlead.Job{Kind: "http", Args: secret}
	if err := fairlead.NormalizeJobs([]*fairlead.Job{message}); err != nil {
		t.Fatal(err)
	}
	if ended, err := store.EndLook(ctx, alert.Found{Version: turn.Version, Messages: []*fairlead.Job{message}}); err != nil || !ended {
		t.Fatalf("the look ended: %v, %v", ended, err)
	}
	stored, err := inner.Find(ctx, fairlead.Filter{})
	if err != nil || len(stored) != 1 || bytes.Contains(stored[0].Args, []byte(canary)) {
		t.Fatalf("stored are %v: %v", stored, err)
	}
	opened, err := store.Get(ctx, stored[0].ID)
	if err != nil || !bytes.Equal(opened.Args, secret) {
		t.Errorf("opened it has %s: %v", opened.Args, err)
	}
}
