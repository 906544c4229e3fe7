// Package rest serves the methods of the API as resources over HTTP, driven by the
// annotations of the schema: no route needs code of its own.
//
// The path and query of a request, or its body, become the message of the method. The
// response becomes JSON or, for a streaming method, server-sent events. Errors are returned
// as problems (RFC 9457) that name each invalid field.
package rest
