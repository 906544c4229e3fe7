package console

import "strings"

// tones contains the colors of states. States that are not listed have no color.
var tones = map[string]string{
	"scheduled": "later", "parked": "held", "ready": "ready", "running": "running", "waiting": "waiting",
	"succeeded": "good", "failed": "bad", "cancelled": "off", "skipped": "off",
	// Batches and their tasks.
	"pending": "later", "success": "good", "fail": "bad", "partial_fail": "bad", "retry_pending": "ready", "cancel": "off",
	"rollback_pending": "held", "rollback_running": "waiting", "rollback_success": "undone", "rollback_fail": "bad", "awaiting": "held",
	// Sweeps.
	"created": "later", "stopping": "held", "stopped": "off", "finished": "good",
	// Bulk actions.
	"completed": "good",
	// What jobs wait for.
	"at_cap": "ready", "over_rate": "running", "no_node": "bad", "no_slot": "waiting", "at_gate": "off", "in_line": "line", "not_due": "later", "suspect": "bad", "unrecorded": "none",
	// Others.
	"enabled": "good", "disabled": "off", "paused": "held", "dead": "bad", "left": "off", "draining": "held", "alive": "good",
	"warn": "held", "error": "bad", "open": "bad", "half_open": "held", "queued": "held",
}

// Tone returns the color of a state.
func (v *visit) Tone(state any) string {
	if tone, known := tones[text(state)]; known {
		return tone
	}
	return "none"
}

// StateName returns the display name of a state.
func (v *visit) StateName(state any) string {
	return v.T(strings.ReplaceAll(text(state), "_", " "))
}
