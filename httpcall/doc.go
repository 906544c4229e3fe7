// Package httpcall handles jobs of the built-in kind "http", which call a URL and
// succeed if the answer meets a condition.
//
//	guard, err := httpcall.NewGuard(nil, false)
//	httpcall.New(httpcall.Options{Guard: guard}).Register(mux)
//
// The args of such a job are a [Call]. Its URL, headers and body may contain placeholders
// ({{run_id}}) and references to secrets (${env:NAME}); both are encoded so that they
// cannot change the surrounding text. A target may also accept a call and answer it
// later: the job then waits for the target's callback.
//
// A [Guard] denies calls to forbidden addresses. Each target has a circuit breaker and a
// concurrency limit. The request and the answer are stored with the job, without secrets.
package httpcall
