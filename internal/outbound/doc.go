// Package outbound contains the common parts of all calls to other services: a response
// ends with its context, and errors reveal nothing about this side's network.
package outbound
