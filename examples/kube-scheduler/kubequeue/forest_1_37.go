//go:build !kube134

package kubequeue

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// The forest has the groups that the queue was told of, as objects. A pod names a pod group. With the feature gate CompositePodGroup
// a pod group may name a composite one above it, and so on; the topmost is the root. While one of them was not told of, or they
// name each other in a circle, there is no root.

// forest is not safe for several goroutines.
type forest struct {
	composites bool // the feature gate CompositePodGroup

	podGroups map[fwk.EntityKey]*schedulingv1beta1.PodGroup
	composite map[fwk.EntityKey]*schedulingv1alpha3.CompositePodGroup
	children  map[fwk.EntityKey]sets.Set[fwk.EntityKey] // also of a group that was not told of
}

func newForest(composites bool) forest {
	return forest{
		composites: composites,
		podGroups:  map[fwk.EntityKey]*schedulingv1beta1.PodGroup{},
		composite:  map[fwk.EntityKey]*schedulingv1alpha3.CompositePodGroup{},
		children:   map[fwk.EntityKey]sets.Set[fwk.EntityKey]{},
	}
}

// keyOfGroup is the key of the pod group that a member names.
func keyOfGroup(pod *v1.Pod) fwk.EntityKey {
	return fwk.PodGroupKey(pod.Namespace, *pod.Spec.SchedulingGroup.PodGroupName)
}

func keyOf(group *schedulingv1beta1.PodGroup) fwk.EntityKey {
	return fwk.PodGroupKey(group.Namespace, group.Name)
}

func keyOfComposite(group *schedulingv1alpha3.CompositePodGroup) fwk.EntityKey {
	return fwk.CompositePodGroupKey(group.Namespace, group.Name)
}

// above is the key of the group above one; false: it names none.
func (forest *forest) above(key fwk.EntityKey) (parent fwk.EntityKey, found bool) {
	var name *string
	if group := forest.podGroups[key]; group != nil && forest.composites {
		name = group.Spec.ParentCompositePodGroupName
	} else if group := forest.composite[key]; group != nil {
		name = group.Spec.ParentCompositePodGroupName
	}
	if name == nil {
		return fwk.EntityKey{}, false
	}
	return fwk.CompositePodGroupKey(key.Namespace, *name), true
}

func (forest *forest) has(key fwk.EntityKey) bool {
	return forest.podGroups[key] != nil || forest.composite[key] != nil
}

// root is the topmost group above one, or itself; false: it has none.
func (forest *forest) root(key fwk.EntityKey) (root fwk.EntityKey, found bool) {
	for seen := sets.New[fwk.EntityKey](); forest.has(key) && !seen.Has(key); {
		parent, below := forest.above(key)
		if !below {
			return key, true
		}
		seen.Insert(key)
		key = parent
	}
	return fwk.EntityKey{}, false
}

// hang notes which group is above a group; cut forgets it.
func (forest *forest) hang(key fwk.EntityKey) {
	if parent, below := forest.above(key); below {
		if forest.children[parent] == nil {
			forest.children[parent] = sets.New[fwk.EntityKey]()
		}
		forest.children[parent].Insert(key)
	}
}

func (forest *forest) cut(key fwk.EntityKey) {
	if parent, below := forest.above(key); below {
		if forest.children[parent].Delete(key).Len() == 0 {
			delete(forest.children, parent)
		}
	}
}

func (forest *forest) addPodGroup(group *schedulingv1beta1.PodGroup) {
	forest.podGroups[keyOf(group)] = group
	forest.hang(keyOf(group))
}

func (forest *forest) deletePodGroup(group *schedulingv1beta1.PodGroup) {
	forest.cut(keyOf(group))
	delete(forest.podGroups, keyOf(group))
}

func (forest *forest) addComposite(group *schedulingv1alpha3.CompositePodGroup) {
	forest.composite[keyOfComposite(group)] = group
	forest.hang(keyOfComposite(group))
}

func (forest *forest) deleteComposite(group *schedulingv1alpha3.CompositePodGroup) {
	forest.cut(keyOfComposite(group))
	delete(forest.composite, keyOfComposite(group))
}

// below lists the groups right below one that the queue was told of, in one order. One that an update hung elsewhere is not among
// them, so nothing is below itself.
func (forest *forest) below(key fwk.EntityKey) (keys []fwk.EntityKey) {
	for child := range forest.children[key] {
		if parent, found := forest.above(child); found && parent == key {
			keys = append(keys, child)
		}
	}
	slices.SortFunc(keys, func(a, b fwk.EntityKey) int {
		switch left, right := a.String(), b.String(); {
		case left < right:
			return -1
		case left > right:
			return 1
		}
		return 0
	})
	return keys
}

// leaves lists the pod groups of a root, itself if it is one.
func (forest *forest) leaves(root fwk.EntityKey) (leaves []fwk.EntityKey) {
	if forest.podGroups[root] != nil {
		return []fwk.EntityKey{root}
	}
	for _, key := range forest.below(root) {
		leaves = append(leaves, forest.leaves(key)...)
	}
	return leaves
}

// tree describes a group that has a root, with all below it.
func (forest *forest) tree(key fwk.EntityKey) *framework.PodGroupInfo {
	info := &framework.PodGroupInfo{
		Namespace: key.Namespace, Name: key.Name, Type: key.Type,
		PodGroup: forest.podGroups[key], CompositePodGroup: forest.composite[key],
		Children: []*framework.PodGroupInfo{},
	}
	if info.CompositePodGroup == nil {
		return info
	}
	for _, key := range forest.below(key) {
		info.Children = append(info.Children, forest.tree(key))
	}
	return info
}
