// Package httpcall handles jobs of the built-in kind "http", which call a URL and
// succeed if the answer meets a condition.
//
// The args of such a job are a Call. Its URL, headers and body may contain placeholders
// ({{run_id}}) and references to secrets (${env:NAME}); both are encoded so that they
// cannot change the surrounding text. A target may also only accept a call and answer
// it later: the job then waits for its callback.
//
// Calls pass a Guard, which denies forbidden addresses, and a circuit breaker and a
// concurrency limit for each target. The request and the answer are stored with the
// job, without secrets.
package httpcall
