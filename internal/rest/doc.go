// Package rest serves the methods of the API as resources over HTTP, as the
// annotations of the schema say: there is no code per route.
//
// A request's path and query, or its body, become the message of the method; its
// answer becomes JSON, or for a method with a stream of answers server-sent
// events. What goes wrong is answered as a problem (RFC 9457) that names each
// field.
package rest
