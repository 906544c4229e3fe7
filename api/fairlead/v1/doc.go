// Package fairleadv1 is version 1 of the API, generated from its schema.
package fairleadv1
