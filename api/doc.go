// Package api is the schema of the service; its Go code is generated.
package api

//go:generate go run -C ../tools/proto . -root ../../api
