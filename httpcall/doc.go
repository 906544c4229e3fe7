// Package httpcall is the handler of the built-in kind "http": a job that
// calls a URL and succeeds if the answer is what was hoped for.
//
// The args of such a job are a Call. Its URL, headers and body may have
// placeholders ({{run_id}}) and references to secrets (${env:NAME}); both are
// written so that they cannot change what stands around them. A call may also be
// accepted only, and answered later: then the job waits for its callback.
//
// Calls go through a Guard, which knows the addresses that calls must not reach,
// past a breaker and a bound for each target. What was sent and answered is kept
// with the job, without its secrets.
package httpcall
