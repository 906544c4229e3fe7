// Package openapi generates two descriptions of the service's routes from the schema: an
// OpenAPI 3.1 document and a reference page for people.
package openapi
