// Package outbound is what all calls to other services have in common: an answer ends
// with its context, and an error names nothing of this side's network.
package outbound
