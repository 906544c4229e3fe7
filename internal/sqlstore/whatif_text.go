package sqlstore

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// gates returns notes about the kinds whose parked jobs are not part of the forecast.
func (s *scene) gates(question fairlead.WhatIf) (text []string) {
	config := s.data.config()
	for _, change := range question.Changes {
		limit := change.Limit
		if limit == nil || limit.Scope != fairlead.LimitKind {
			continue
		}
		if places := max(1, limit.PerKey); places != config.Places(limit.Name) {
			text = append(text, fmt.Sprintf("kind %q admits %d jobs with the same concurrency key instead of %d: which parked jobs that admits is not part of this forecast",
				limit.Name, places, config.Places(limit.Name)))
		}
	}
	return text
}
