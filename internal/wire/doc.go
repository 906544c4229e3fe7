// Package wire turns messages of the API into JSON and back, and checks their
// rules.
//
// It is as strict as people wish an API to be: an unknown field, a key
// that appears twice, a number that does not fit, are refused with the path of
// the field, such as jobs[3].start_by. Names are those of the schema. 64-bit
// numbers are written as text and read as either; times are RFC 3339, durations
// such as "20s"; fields that the schema marks as JSON are the document itself.
package wire
