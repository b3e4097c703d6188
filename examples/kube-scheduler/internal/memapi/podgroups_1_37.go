//go:build !kube134

package memapi

import (
	"strconv"
	"sync"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	ktesting "k8s.io/client-go/testing"
)

// PodGroups are a server's pod groups. Objects that were given are not to be changed.
type PodGroups struct {
	server *Server
	mutex  sync.Mutex // before the server's
	groups map[string]*schedulingv1beta1.PodGroup
}

const podGroups = "podgroups"

// ServePodGroups makes a server have pod groups. Call it once, before the informers start.
func ServePodGroups(server *Server) *PodGroups {
	made := &PodGroups{server: server, groups: map[string]*schedulingv1beta1.PodGroup{}}
	server.Client.PrependReactor("*", podGroups, made.react)
	server.serveWatches(podGroups)
	return made
}

// Put adds or replaces a group.
func (groups *PodGroups) Put(group *schedulingv1beta1.PodGroup) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	groups.put(group)
}

func (groups *PodGroups) put(group *schedulingv1beta1.PodGroup) {
	kind := watch.Added
	if groups.groups[group.Namespace+"/"+group.Name] != nil {
		kind = watch.Modified
	}
	groups.groups[group.Namespace+"/"+group.Name] = group
	groups.server.mutex.Lock()
	defer groups.server.mutex.Unlock()
	group.ResourceVersion = groups.server.nextVersion()
	groups.server.tell(podGroups, kind, group)
}

// Delete removes a group, if there is one of that name.
func (groups *PodGroups) Delete(namespace, name string) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	group := groups.groups[namespace+"/"+name]
	if group == nil {
		return
	}
	delete(groups.groups, namespace+"/"+name)
	groups.server.mutex.Lock()
	defer groups.server.mutex.Unlock()
	groups.server.version++
	groups.server.tell(podGroups, watch.Deleted, group)
}

func (groups *PodGroups) react(action ktesting.Action) (bool, runtime.Object, error) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	switch action := action.(type) {
	case ktesting.ListActionImpl:
		return true, groups.list(), nil
	case ktesting.PatchActionImpl:
		old := groups.groups[action.GetNamespace()+"/"+action.GetName()]
		if old == nil {
			return true, nil, apierrors.NewNotFound(schedulingv1beta1.Resource(podGroups), action.GetName())
		}
		group, err := patched(old, action.GetPatch())
		if err != nil {
			return true, nil, err
		}
		groups.put(group)
		return true, group, nil
	}
	return false, nil, nil
}

func (groups *PodGroups) list() *schedulingv1beta1.PodGroupList {
	groups.server.mutex.Lock()
	defer groups.server.mutex.Unlock()
	list := &schedulingv1beta1.PodGroupList{
		ListMeta: metav1.ListMeta{ResourceVersion: strconv.FormatInt(groups.server.version, 10)},
	}
	for _, group := range groups.groups {
		list.Items = append(list.Items, *group)
	}
	return list
}
