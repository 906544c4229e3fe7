package message_test

import (
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
)

func TestAJobToBeStoredIsTheSameAfterBothWays(t *testing.T) {
	at := time.Date(2030, 4, 5, 6, 7, 8, 9, time.UTC)
	job := &fairlead.Job{
		Kind: "mail", Args: []byte(`{"to":7}`), Queue: "slow", Tenant: "acme", Priority: -3,
		NotBefore: at, StartBy: at.Add(time.Hour), Timeout: time.Minute, MaxAttempts: 4,
		Retry: &fairlead.Retry{Base: time.Second, Factor: 1.5, Max: time.Hour, Precise: true},
		Key:   "k", KeyScope: fairlead.KeyForever, OnDuplicate: fairlead.KeepDuplicate,
		ConcurrencyKey: "c", OnCrash: fairlead.CancelOnCrash, OnFail: fairlead.RemoveFailed, Trace: "00-1-2-01",
	}
	for name, got := range map[string]*fairlead.Job{"full": message.NewJobOf(message.NewJob(job)), "empty": message.NewJobOf(message.NewJob(&fairlead.Job{}))} {
		want := job
		if name == "empty" {
			want = &fairlead.Job{}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestEveryFieldOfANewJobIsSetFromAJob(t *testing.T) {
	at := time.Unix(1, 0).UTC()
	full := message.NewJob(&fairlead.Job{
		Kind: "k", Args: []byte("1"), Queue: "q", Tenant: "t", Priority: 1, NotBefore: at, StartBy: at, Timeout: 1, MaxAttempts: 1,
		Retry: &fairlead.Retry{}, Key: "k", KeyScope: "s", OnDuplicate: "d", ConcurrencyKey: "c", OnCrash: "c", OnFail: "f", Trace: "t",
	})
	fields := full.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); !full.ProtoReflect().Has(f) {
			t.Errorf("the field %s of a new job is not set", f.Name())
		}
	}
}

func TestProgressIsWhatCameLastByExtendIfAny(t *testing.T) {
	out := message.Job(&fairlead.Job{Status: fairlead.Status{Progress: []byte("1"), Told: []byte("2")}})
	want := &fairleadv1.Job{Progress: []byte("2"), Reported: []byte("1")}
	if !proto.Equal(out, want) {
		t.Errorf("got %v, want %v", out, want)
	}
}
