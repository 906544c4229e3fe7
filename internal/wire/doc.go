// Package wire converts messages of the API to and from JSON, and checks their rules.
//
// It is strict: an unknown field, a duplicate key, or a number out of range is rejected
// with the path of the field, such as jobs[3].start_by. Field names are those of the
// schema. 64-bit numbers are written as strings and accepted as strings or numbers. Times
// are in RFC 3339 format, and durations have a form such as "20s". A field marked as JSON
// in the schema contains the document itself.
package wire
