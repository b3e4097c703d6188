package schedq

import (
	"regexp"
	"strings"
)

// The library's words name what a C program calls. These are the same in this package; a longer name stands before its beginning.
var goNames = strings.NewReplacer(
	"a worker is registered (the timer thread is one), which ends setup",
	"setup is over: DefineProfile and RegisterPlugin come before the first call that needs a worker, as Add does",
	"schedq_assigned_pod_added", "AssignedPodAdded",
	"schedq_assigned_pod_updated", "AssignedPodUpdated",
	"schedq_apply_many", "ApplyMany",
	"schedq_apply", "Apply",
	"schedq_candidates", "Candidates",
	"schedq_destroy_with_pods", "DestroyWithPods",
	"schedq_event_begin", "EventBegin",
	"schedq_event_stamp", "EventStamp",
	"schedq_group_activate", "ActivateGroup",
	"schedq_group_add", "AddGroup",
	"schedq_group_delete", "DeleteGroup",
	"schedq_group_done", "GroupDone",
	"schedq_group_get", "GetGroup",
	"schedq_group_update", "UpdateGroup",
	"schedq_notify", "Notify",
	"schedq_try_pop_group", "TryPopGroup",
	"schedq_update", "Update",
	"token NULL: ", "token nil: ",
	"config.decide", "Config.Decide",
	"SCHEDQ_DECIDE_CALLBACKS", "DecideLibrary",
	"SCHEDQ_DECIDE_HOST", "DecideHost",
)

// workersLeft is what the library says of an end while calls are under way: each of them has a worker of the pool.
var workersLeft = regexp.MustCompile(`^workers that are registered: ([0-9]+): .*`)

// goWords says in this package's names what the library said of a refusal.
func goWords(why string) string {
	why = workersLeft.ReplaceAllString(why, "calls that have not returned: $1; wait for them, and for Run")
	return goNames.Replace(why)
}
