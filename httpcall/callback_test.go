package httpcall_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
)

func TestATokenStandsForOneRunOfOneJob(t *testing.T) {
	key := bytes.Repeat([]byte("k"), 32)
	now := time.Unix(1_900_000_000, 0)
	given := httpcall.Callback{Tenant: "acme", Job: 12, Fence: 77, Expires: now.Add(time.Hour)}
	token := httpcall.MakeToken(key, given)
	if strings.ContainsAny(token, "+/= ") {
		t.Errorf("%s does not fit into a URL", token)
	}
	if got, err := httpcall.VerifyToken(key, token, now); err != nil || got != given {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := httpcall.VerifyToken(key, token, now.Add(time.Hour)); err != nil || got.Job != 12 {
		t.Errorf("in the last second: %v", err)
	}
	if _, err := httpcall.VerifyToken(key, token, now.Add(time.Hour+time.Second)); !errors.Is(err, fairlead.ErrExpired) {
		t.Errorf("after it expired: %v", err)
	}
}

func TestATokenCannotBeForgedOrTurnedIntoAnother(t *testing.T) {
	key, other := bytes.Repeat([]byte("k"), 32), bytes.Repeat([]byte("o"), 32)
	now := time.Unix(1_900_000_000, 0)
	given := httpcall.Callback{Tenant: "acme", Job: 12, Fence: 77, Expires: now.Add(time.Hour)}
	token := httpcall.MakeToken(key, given)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	forged := map[string]string{
		"nothing": "", "no base64": "!", "short": "AAAA", "mac alone": base64.RawURLEncoding.EncodeToString(raw[:32]),
		"another key": httpcall.MakeToken(other, given), "no key": httpcall.MakeToken(nil, given),
		"padded": token + "=", "with a line break": token + "\n", "twice": token + token, "cut": token[:len(token)-2],
	}
	for name, changed := range map[string]httpcall.Callback{
		"job":    {Tenant: "acme", Job: 13, Fence: 77, Expires: given.Expires},
		"fence":  {Tenant: "acme", Job: 12, Fence: 78, Expires: given.Expires},
		"tenant": {Tenant: "acm", Job: 12, Fence: 77, Expires: given.Expires},
		"expiry": {Tenant: "acme", Job: 12, Fence: 77, Expires: given.Expires.Add(time.Hour)},
	} {
		// The seal of the token that was given out, over what a forger would like it to say.
		wanted, err := base64.RawURLEncoding.DecodeString(httpcall.MakeToken(other, changed))
		if err != nil {
			t.Fatal(err)
		}
		forged["another "+name] = base64.RawURLEncoding.EncodeToString(append(raw[:32:32], wanted[32:]...))
	}
	for i := range raw {
		bent := bytes.Clone(raw)
		bent[i] ^= 1
		forged["bent at "+string(rune('0'+i))] = base64.RawURLEncoding.EncodeToString(bent)
	}
	for name, token := range forged {
		if got, err := httpcall.VerifyToken(key, token, now); !errors.Is(err, httpcall.ErrForged) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}
