package schedq

/*
#include <schedq/schedq.h>
*/
import "C"

import "unsafe"

// Each line below fails to compile if a struct of this package and its original in the C header differ in size, or in
// where the named field stands: an array's length is not 0 then, or negative.
var (
	_ [0]byte = [unsafe.Sizeof(Config{}) - unsafe.Sizeof(C.schedq_config_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(Config{}.Fences) - unsafe.Offsetof(C.schedq_config_t{}.fences)]byte{}
	_ [0]byte = [unsafe.Offsetof(Config{}.startNS) - unsafe.Offsetof(C.schedq_config_t{}.start_ns)]byte{}
	_ [0]byte = [unsafe.Offsetof(Config{}.KubeMinor) - unsafe.Offsetof(C.schedq_config_t{}.kube_minor)]byte{}
	_ [0]byte = [unsafe.Offsetof(Config{}.Flush) - unsafe.Offsetof(C.schedq_config_t{}.flush_ns)]byte{}
	_ [0]byte = [unsafe.Offsetof(Config{}.externalClock) - unsafe.Offsetof(C.schedq_config_t{}.external_clock)]byte{}
	_ [0]byte = [unsafe.Offsetof(Config{}.ClassPatience) - unsafe.Offsetof(C.schedq_config_t{}.class_patience_ns)]byte{}
	_ [0]byte = [unsafe.Sizeof(PodSpec{}) - unsafe.Sizeof(C.schedq_pod_spec_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(PodSpec{}.JudgedUpTo) - unsafe.Offsetof(C.schedq_pod_spec_t{}.judged_up_to)]byte{}
	_ [0]byte = [unsafe.Offsetof(PodSpec{}.Only) - unsafe.Offsetof(C.schedq_pod_spec_t{}.only)]byte{}
	_ [0]byte = [unsafe.Offsetof(PodSpec{}.Gate) - unsafe.Offsetof(C.schedq_pod_spec_t{}.gate)]byte{}
	_ [0]byte = [unsafe.Offsetof(PodSpec{}.Label) - unsafe.Offsetof(C.schedq_pod_spec_t{}.label)]byte{}
	_ [0]byte = [unsafe.Offsetof(PodSpec{}.Group) - unsafe.Offsetof(C.schedq_pod_spec_t{}.group)]byte{}
	_ [0]byte = [unsafe.Offsetof(PodSpec{}.Class) - unsafe.Offsetof(C.schedq_pod_spec_t{}.class_id)]byte{}
	_ [0]byte = [unsafe.Sizeof(GroupSpec{}) - unsafe.Sizeof(C.schedq_group_spec_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(GroupSpec{}.Profile) - unsafe.Offsetof(C.schedq_group_spec_t{}.profile)]byte{}
	_ [0]byte = [unsafe.Offsetof(GroupSpec{}.Parent) - unsafe.Offsetof(C.schedq_group_spec_t{}.parent)]byte{}
	_ [0]byte = [unsafe.Sizeof(PoppedGroup{}) - unsafe.Sizeof(C.schedq_popped_group_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(PoppedGroup{}.Seen) - unsafe.Offsetof(C.schedq_popped_group_t{}.seen)]byte{}
	_ [0]byte = [unsafe.Offsetof(PoppedGroup{}.Flushed) - unsafe.Offsetof(C.schedq_popped_group_t{}.flushed)]byte{}
	_ [0]byte = [unsafe.Sizeof(GroupInfo{}) - unsafe.Sizeof(C.schedq_group_info_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(GroupInfo{}.Declared) - unsafe.Offsetof(C.schedq_group_info_t{}.declared)]byte{}
	_ [0]byte = [unsafe.Offsetof(GroupInfo{}.Root) - unsafe.Offsetof(C.schedq_group_info_t{}.root)]byte{}
	_ [0]byte = [unsafe.Offsetof(GroupInfo{}.Waiting) - unsafe.Offsetof(C.schedq_group_info_t{}.waiting)]byte{}
	_ [0]byte = [unsafe.Sizeof(AddItem{}) - unsafe.Sizeof(C.schedq_add_item_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(AddItem{}.Spec) - unsafe.Offsetof(C.schedq_add_item_t{}.spec)]byte{}
	_ [0]byte = [unsafe.Sizeof(Result{}) - unsafe.Sizeof(C.schedq_result_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(Result{}.Left) - unsafe.Offsetof(C.schedq_result_t{}.left)]byte{}
	_ [0]byte = [unsafe.Offsetof(Result{}.BackingOff) - unsafe.Offsetof(C.schedq_result_t{}.backing_off)]byte{}
	_ [0]byte = [unsafe.Sizeof(History{}) - unsafe.Sizeof(C.schedq_history_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(History{}.Errors) - unsafe.Offsetof(C.schedq_history_t{}.errors)]byte{}
	_ [0]byte = [unsafe.Sizeof(Failure{}) - unsafe.Sizeof(C.schedq_failure_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(Failure{}.OwnReasons) - unsafe.Offsetof(C.schedq_failure_t{}.own_reasons)]byte{}
	_ [0]byte = [unsafe.Offsetof(Failure{}.Newest) - unsafe.Offsetof(C.schedq_failure_t{}.newest)]byte{}
	_ [0]byte = [unsafe.Offsetof(Failure{}.JudgedUpTo) - unsafe.Offsetof(C.schedq_failure_t{}.judged_up_to)]byte{}
	_ [0]byte = [unsafe.Sizeof(Candidate{}) - unsafe.Sizeof(C.schedq_candidate_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(Candidate{}.Profile) - unsafe.Offsetof(C.schedq_candidate_t{}.profile)]byte{}
	_ [0]byte = [unsafe.Sizeof(Decision{}) - unsafe.Sizeof(C.schedq_decision_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(Decision{}.Ref) - unsafe.Offsetof(C.schedq_decision_t{}.ref)]byte{}
	_ [0]byte = [unsafe.Offsetof(Decision{}.Uncounted) - unsafe.Offsetof(C.schedq_decision_t{}.uncounted)]byte{}
	_ [0]byte = [unsafe.Offsetof(Decision{}.IfBackingOff) - unsafe.Offsetof(C.schedq_decision_t{}.if_backing_off)]byte{}
	_ [0]byte = [unsafe.Offsetof(Decision{}.Flushed) - unsafe.Offsetof(C.schedq_decision_t{}.flushed)]byte{}
	_ [0]byte = [unsafe.Sizeof(Stats{}) - unsafe.Sizeof(C.schedq_stats_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(Stats{}.Fences) - unsafe.Offsetof(C.schedq_stats_t{}.fences)]byte{}
	_ [0]byte = [unsafe.Offsetof(Stats{}.Held) - unsafe.Offsetof(C.schedq_stats_t{}.held)]byte{}
	_ [0]byte = [unsafe.Offsetof(Stats{}.GroupsKnown) - unsafe.Offsetof(C.schedq_stats_t{}.groups_known)]byte{}
	_ [0]byte = [unsafe.Offsetof(Stats{}.MembersAt) - unsafe.Offsetof(C.schedq_stats_t{}.members_at)]byte{}
	_ [0]byte = [unsafe.Offsetof(Stats{}.ClassTurns) - unsafe.Offsetof(C.schedq_stats_t{}.class_turns)]byte{}
	_ [0]byte = [unsafe.Offsetof(Words{}.aside) - unsafe.Offsetof(C.schedq_words_t{}.aside)]byte{}
	_ [0]byte = [unsafe.Offsetof(Words{}.held) - unsafe.Offsetof(C.schedq_words_t{}.held)]byte{}
	_ [0]byte = [unsafe.Offsetof(Stats{}.Moves) - unsafe.Offsetof(C.schedq_stats_t{}.moves)]byte{}
	_ [0]byte = [unsafe.Sizeof(Words{}) - unsafe.Sizeof(C.schedq_words_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(Words{}.poppable) - unsafe.Offsetof(C.schedq_words_t{}.poppable)]byte{}
	_ [0]byte = [unsafe.Sizeof(Quantity{}) - unsafe.Sizeof(C.schedq_quantity_t{})]byte{}
	_ [0]byte = [unsafe.Sizeof(PodFacts{}) - unsafe.Sizeof(C.schedq_pod_facts_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(PodFacts{}.Assigned) - unsafe.Offsetof(C.schedq_pod_facts_t{}.assigned)]byte{}
	_ [0]byte = [unsafe.Offsetof(PodFacts{}.ScaleUp) - unsafe.Offsetof(C.schedq_pod_facts_t{}.scale_up)]byte{}
	_ [0]byte = [unsafe.Offsetof(NodeFacts{}.DeclaredFeatures) - unsafe.Offsetof(C.schedq_node_facts_t{}.declared_features)]byte{}
	_ [0]byte = [unsafe.Sizeof(NodeFacts{}) - unsafe.Sizeof(C.schedq_node_facts_t{})]byte{}
	_ [0]byte = [unsafe.Offsetof(NodeFacts{}.Unschedulable) -
		unsafe.Offsetof(C.schedq_node_facts_t{}.unschedulable)]byte{}
)
