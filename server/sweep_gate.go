package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/internal/wire"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/sweep"
)

// business calls the gate that decides whether a sweep may be created.
type business struct {
	caller *httpcall.Caller // nil = gates cannot be called
	client *fairlead.Client // reads the signing keys of tenants, which callers may not read
}

// newBusiness returns a business that calls gates through a guard. Without a guard, gates
// cannot be called.
func newBusiness(guard *httpcall.Guard, store Store) business {
	b := business{client: fairlead.NewClient(store)}
	if guard != nil {
		b.caller = httpcall.NewCaller(guard)
	}
	return b
}

// gateField is the field in validation errors.
const gateField = "gate.before_create"

// askWithin is the timeout for the gate's answer.
const askWithin = 10 * time.Second

// agree asks the gate, if one is set, whether a sweep may be created. It returns
// ErrConflict with the reason if the gate refuses.
func (b business) agree(ctx context.Context, sweep *sweep.Sweep) error {
	if sweep.Gate.BeforeCreate == "" {
		return nil
	}
	if b.caller == nil {
		return rest.InvalidField(gateField, "cannot be called: this service makes no HTTP calls")
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	request, err := b.question(ctx, sweep)
	if err != nil {
		return err
	}
	reply, err := b.caller.Do(request)
	var denied *httpcall.DeniedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &denied):
		return rest.InvalidField(gateField, denied.Error())
	case refusal(reply.Status):
		return fmt.Errorf("sweep %q was refused by %s: %s: %w", sweep.Name, gateField, reasonIn(reply), fairlead.ErrConflict)
	}
	return &rest.Error{Status: http.StatusBadGateway, Detail: fmt.Sprintf("the call to %s failed: %v; nothing was created, try again later", gateField, err)}
}

// refusal reports whether a status is a definite refusal, as opposed to one that may change
// soon.
func refusal(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status/100 == 4
}

// question returns the request to the gate: the sweep in its API form, signed with the key
// of its tenant.
func (b business) question(ctx context.Context, sw *sweep.Sweep) (*http.Request, error) {
	body, err := wire.Marshal(message.Sweep(&sweep.Record{Sweep: *sw}, time.Time{}))
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, sw.Gate.BeforeCreate, bytes.NewReader(body))
	if err != nil {
		return nil, rest.InvalidField(gateField, "is not a valid URL")
	}
	request.Header.Set("Content-Type", "application/json")
	key, err := b.client.SigningKey(ctx, sw.Tenant)
	if err != nil {
		return nil, err
	}
	httpcall.Sign(request, key, "sweep-"+rand.Text(), time.Now(), body)
	return request, nil
}

// mostReason limits the number of characters shown of a reason.
const mostReason = 500

// reasonIn returns the gate's reason for refusing a sweep: the reason in a JSON response,
// or the whole response.
func reasonIn(reply httpcall.Reply) string {
	var said struct{ Reason, Detail, Message, Error string }
	text := string(reply.Body)
	if json.Unmarshal(reply.Body, &said) == nil {
		for _, one := range []string{said.Reason, said.Detail, said.Message, said.Error} {
			if one != "" {
				text = one
				break
			}
		}
	}
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "�")))
	if letters := []rune(text); len(letters) > mostReason {
		text = string(letters[:mostReason]) + "…"
	}
	if text == "" {
		return fmt.Sprintf("it responded with %d", reply.Status)
	}
	return text
}
