package seal

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead/alert"
)

func messageOf(rule *alert.Rule) message {
	return message{url: &rule.URL, secret: &rule.SigningSecret, headers: &rule.Headers, body: &rule.Body}
}

// SetAlert implements alert.Store. It returns ErrInvalid if the rule contains a sealed
// value that this program cannot open.
func (s *Store) SetAlert(ctx context.Context, rule alert.Rule) (alert.Rule, error) {
	return s.setAlert(rule, func(sealed alert.Rule) (alert.Rule, error) { return s.Store.SetAlert(ctx, sealed) })
}

// SetAlertSeen implements alert.Store. Like SetAlert, it returns ErrInvalid if the rule
// contains a sealed value that this program cannot open. It uses only the UpdatedAt of seen.
func (s *Store) SetAlertSeen(ctx context.Context, rule, seen alert.Rule) (alert.Rule, error) {
	return s.setAlert(rule, func(sealed alert.Rule) (alert.Rule, error) { return s.Store.SetAlertSeen(ctx, sealed, seen) })
}

func (s *Store) setAlert(rule alert.Rule, set func(sealed alert.Rule) (alert.Rule, error)) (alert.Rule, error) {
	if err := s.closeMessage(messageOf(&rule)); err != nil {
		return alert.Rule{}, err
	}
	stored, err := set(rule)
	if err != nil {
		return alert.Rule{}, err
	}
	return stored, s.openMessage(messageOf(&stored))
}

// Alerts implements alert.Store. Values that cannot be opened stay sealed.
func (s *Store) Alerts(ctx context.Context) ([]alert.Rule, error) {
	rules, err := s.Store.Alerts(ctx)
	for i := range rules {
		_ = s.openMessage(messageOf(&rules[i])) // shown sealed if it cannot be opened
	}
	return rules, err
}

// TakeLook implements alert.Store. It fails if a rule cannot be opened. The check then does
// not end and therefore has no effect. The next check on a node that has the key finds the
// same events.
func (s *Store) TakeLook(ctx context.Context, every time.Duration) (alert.Turn, bool, error) {
	turn, taken, err := s.Store.TakeLook(ctx, every)
	if err != nil || !taken {
		return turn, taken, err
	}
	for i := range turn.Rules {
		if err := s.openMessage(messageOf(&turn.Rules[i].Rule)); err != nil {
			return alert.Turn{}, false, fmt.Errorf("alert %q: %w", turn.Rules[i].Name, err)
		}
	}
	return turn, true, nil
}

// EndLook implements alert.Store. Messages are jobs, so EndLook seals their args.
func (s *Store) EndLook(ctx context.Context, found alert.Found) (bool, error) {
	messages, err := s.sealJobs(found.Messages)
	if err != nil {
		return false, err
	}
	found.Messages = messages
	return s.Store.EndLook(ctx, found)
}
