// Package schedq is the Go binding of the C library schedq: which pod (job, task) does a scheduler look at next.
//
// It is thin: one method for each function of the C header, with the same name, the same words and the same answers.
// The headers that schedq/schedq.h includes are the reference for what each call guarantees; the comments here say what a Go caller
// has to know. It adds four things that Go needs:
//
//   - Workers. The C library wants a handle for every call under way. A [Queue] keeps a pool of them and takes one for
//     the length of a call, so every method may be called from any goroutine, and no handle is held while Go code runs.
//   - A pop that waits in Go. [Queue.Pop] obeys a context, and a goroutine that waits in it costs no thread.
//   - Time. [Queue.Run] is the goroutine that does what time demands. A clock of the caller's can stand in for the
//     monotonic one, see [New].
//   - Numbers without a call. [Queue.Words] reads counts from the library's memory: less than a nanosecond, where a
//     call costs tens.
//
// # Objects
//
// The queue holds 64 bits for each pod, chosen by the caller ([PodSpec].Object), and never a Go pointer. Keep a table
// from these bits to your record, and fill it before the call: the pod can be popped before [Queue.Add] returns. The
// bits must stay meaningful while anything may still return them (the C header's SCHEDQ_OBJECTS_STABLE).
//
// # Who decides
//
// C never calls Go. So hints, PreEnqueue plugins and preChecks, which the C library can call, cannot be Go functions. There
// are two ways to decide:
//
//   - [DecideHost]: the program decides, in two steps. [Queue.Candidates] copies out the pods that an event may
//     concern, Go code judges them, and [Queue.Apply] moves each one that still is what was judged. This is what a
//     scheduler with hints in Go wants; docs/HOST.md gives the order of the calls.
//   - [DecideLibrary]: the library decides by what each plugin registered ([Queue.RegisterPlugin]): an event that one
//     of a pod's rejectors asked for brings the pod back. Who wants hints and gates here writes them in C, and gives their
//     addresses to [Queue.RegisterPluginInC]. Groups ([Queue.AddGroup]) are for this way only.
//
// # Errors
//
// What a call answers is a [Status], and a Status is an error: compare with == or [errors.Is]. [ErrInvalid] and
// [ErrFull] come with words, as an [*Error] that wraps them. Many answers are ordinary outcomes and not failures:
// [ErrEmpty], [ErrGone], [ErrStale], [ErrExists], [ErrRetry], [ErrChanged].
//
// # Not bound
//
// Waiting: schedq_pop and schedq_pop_many, each also with _for and _until, and schedq_pop_group_for and _until would block a thread.
// [Queue.Pop], [Queue.PopMany] and [Queue.PopGroup] wait instead. A context cancels one wait, so schedq_wait_cancel has no place.
// schedq_wait_fd and schedq_wait_callback are for event loops, which goroutines do without.
//
// Time: schedq_run and schedq_stop are of a thread that cannot wake a goroutine. [Queue.Run] does its work.
// schedq_clock_advance and schedq_next_deadline are reads and writes of [Words].
//
// Workers: schedq_worker_register, schedq_worker_unregister, schedq_worker_error, schedq_worker_get and schedq_worker_adopt
// are the pool's. No goroutine dies inside a call.
//
// Callbacks in Go (hints, PreEnqueue, preCheck) have no place, as said above. Affinity, retain and release, clock, allocator and
// pre-queueing hints are not handed over either.
//
// Preemption, schedq/preemption.h, is a library of its own.
//
// Metrics: schedq_metrics_write_named is for one page of several queues; here the text of each has an address of its own.
//
// # Building
//
// The package asks pkg-config for schedq: install the library, and name its directory in PKG_CONFIG_PATH if it is not
// a standard one. No server has the package: a module names the folder of its sources,
//
//	go mod edit -require=schedq@v0.0.0 -replace=schedq=/usr/share/gocode/src/schedq
//
// examples/first and examples/batch are whole programs; docs/GO.md goes through them.
package schedq
