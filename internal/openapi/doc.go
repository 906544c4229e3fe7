// Package openapi describes the routes of the service as an OpenAPI 3.1 document
// and as a page for people, both made of the schema.
package openapi
