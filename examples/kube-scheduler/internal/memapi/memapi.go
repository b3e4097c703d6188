// Package memapi is an API server in memory, for running a real scheduler without a cluster: pods and nodes behind client-go's fake
// clientset, copied on write, with resource versions, binding, status patches, deletion and watches that never fall behind.
// Everything else is the fake clientset's own and stays empty.
package memapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// NoEvents keeps the API events of a scheduler to itself.
type NoEvents struct{}

func (NoEvents) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

func (none NoEvents) WithLogger(klog.Logger) events.EventRecorderLogger { return none }

// forgetEvery is after how many calls the fake clientset's record of calls is thrown away.
const forgetEvery = 4096

// Server holds pods and nodes. Objects that it gave out, or was given, are not to be changed.
type Server struct {
	Client *fake.Clientset
	// OnBind, if not nil, may refuse a binding. Set it before the first.
	OnBind func(namespace, name string) error

	mutex   sync.Mutex
	version int64
	pods    map[string]*v1.Pod
	nodes   map[string]*v1.Node
	watches map[string][]*stream // by resource
	bound   atomic.Int64
	calls   atomic.Int64
}

// New makes an empty server.
func New() *Server {
	server := &Server{
		Client: fake.NewSimpleClientset(), //nolint:staticcheck // the other one parses all schemas first
		pods:   map[string]*v1.Pod{}, nodes: map[string]*v1.Node{}, watches: map[string][]*stream{},
	}
	server.Client.PrependReactor("*", "pods", server.reactPods)
	server.Client.PrependReactor("list", "nodes", server.listNodes)
	server.serveWatches("pods")
	server.serveWatches("nodes")
	return server
}

func (server *Server) serveWatches(resource string) {
	server.Client.PrependWatchReactor(resource, func(ktesting.Action) (bool, watch.Interface, error) {
		server.mutex.Lock()
		defer server.mutex.Unlock()
		made := newStream()
		server.watches[resource] = append(server.watches[resource], made)
		return true, made, nil
	})
}

// Bound is how many pods there are that have a node.
func (server *Server) Bound() int64 { return server.bound.Load() }

func (server *Server) nextVersion() string {
	server.version++
	return strconv.FormatInt(server.version, 10)
}

func (server *Server) tell(resource string, kind watch.EventType, object runtime.Object) {
	for _, stream := range server.watches[resource] {
		stream.send(watch.Event{Type: kind, Object: object})
	}
}

// CreatePod adds a pod.
func (server *Server) CreatePod(pod *v1.Pod) {
	server.mutex.Lock()
	defer server.mutex.Unlock()
	pod.ResourceVersion = server.nextVersion()
	server.pods[pod.Namespace+"/"+pod.Name] = pod
	server.tell("pods", watch.Added, pod)
}

// EditPod changes a copy of a pod and publishes it.
func (server *Server) EditPod(namespace, name string, edit func(*v1.Pod) error) (*v1.Pod, error) {
	server.mutex.Lock()
	defer server.mutex.Unlock()
	key := namespace + "/" + name
	old, found := server.pods[key]
	if !found {
		return nil, apierrors.NewNotFound(v1.Resource("pods"), name)
	}
	pod := old.DeepCopy()
	if err := edit(pod); err != nil {
		return nil, err
	}
	pod.ResourceVersion = server.nextVersion()
	server.pods[key] = pod
	if pod.Spec.NodeName != "" && old.Spec.NodeName == "" {
		server.bound.Add(1)
	}
	server.tell("pods", watch.Modified, pod)
	return pod, nil
}

// DeletePod removes a pod at once.
func (server *Server) DeletePod(namespace, name string) error {
	server.mutex.Lock()
	defer server.mutex.Unlock()
	key := namespace + "/" + name
	pod, found := server.pods[key]
	if !found {
		return apierrors.NewNotFound(v1.Resource("pods"), name)
	}
	delete(server.pods, key)
	if pod.Spec.NodeName != "" {
		server.bound.Add(-1)
	}
	server.version++
	server.tell("pods", watch.Deleted, pod)
	return nil
}

// Pods lists all pods, by name.
func (server *Server) Pods() []*v1.Pod {
	server.mutex.Lock()
	defer server.mutex.Unlock()
	pods := make([]*v1.Pod, 0, len(server.pods))
	for _, pod := range server.pods {
		pods = append(pods, pod)
	}
	slices.SortFunc(pods, func(a, b *v1.Pod) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return pods
}

// PutNode adds or replaces a node.
func (server *Server) PutNode(node *v1.Node) {
	server.mutex.Lock()
	defer server.mutex.Unlock()
	kind := watch.Added
	if _, found := server.nodes[node.Name]; found {
		kind = watch.Modified
	}
	node.ResourceVersion = server.nextVersion()
	server.nodes[node.Name] = node
	server.tell("nodes", kind, node)
}

// DeleteNode removes a node, if there is one of that name.
func (server *Server) DeleteNode(name string) {
	server.mutex.Lock()
	defer server.mutex.Unlock()
	if node, found := server.nodes[name]; found {
		delete(server.nodes, name)
		server.version++
		server.tell("nodes", watch.Deleted, node)
	}
}

// bind is for one pod of that name, if it says which.
func (server *Server) bind(namespace, name string, uid types.UID, node string) error {
	if server.OnBind != nil {
		if err := server.OnBind(namespace, name); err != nil {
			return err
		}
	}
	_, err := server.EditPod(namespace, name, func(pod *v1.Pod) error {
		if uid != "" && pod.UID != uid {
			return apierrors.NewConflict(v1.Resource("pods"), name, fmt.Errorf("uid %s, want %s", pod.UID, uid))
		}
		if pod.Spec.NodeName != "" {
			return fmt.Errorf("pod %s is bound already", name)
		}
		pod.Spec.NodeName = node
		return nil
	})
	return err
}

func (server *Server) reactPods(action ktesting.Action) (bool, runtime.Object, error) {
	if server.calls.Add(1)%forgetEvery == 0 {
		go server.Client.ClearActions()
	}
	switch action := action.(type) {
	case ktesting.ListActionImpl:
		return true, server.listPods(), nil
	case ktesting.GetActionImpl:
		return server.getPod(action.GetNamespace(), action.GetName())
	case ktesting.CreateActionImpl:
		if binding, isBinding := action.GetObject().(*v1.Binding); isBinding {
			return true, binding, server.bind(action.GetNamespace(), binding.Name, binding.UID, binding.Target.Name)
		}
	case ktesting.PatchActionImpl:
		pod, err := server.EditPod(action.GetNamespace(), action.GetName(), func(pod *v1.Pod) error {
			after, err := patched(pod, action.GetPatch())
			if err == nil {
				*pod = *after
			}
			return err
		})
		if err != nil {
			return true, nil, err
		}
		return true, pod, nil
	case ktesting.DeleteActionImpl:
		return true, nil, server.DeletePod(action.GetNamespace(), action.GetName())
	}
	return false, nil, nil
}

func (server *Server) getPod(namespace, name string) (bool, runtime.Object, error) {
	server.mutex.Lock()
	defer server.mutex.Unlock()
	if pod, found := server.pods[namespace+"/"+name]; found {
		return true, pod.DeepCopy(), nil
	}
	return true, nil, apierrors.NewNotFound(v1.Resource("pods"), name)
}

func (server *Server) listPods() *v1.PodList {
	pods := server.Pods()
	server.mutex.Lock()
	defer server.mutex.Unlock()
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.FormatInt(server.version, 10)}}
	for _, pod := range pods {
		list.Items = append(list.Items, *pod)
	}
	return list
}

func (server *Server) listNodes(ktesting.Action) (bool, runtime.Object, error) {
	server.mutex.Lock()
	defer server.mutex.Unlock()
	list := &v1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.FormatInt(server.version, 10)}}
	for _, node := range server.nodes {
		list.Items = append(list.Items, *node)
	}
	return true, list, nil
}

// patched is an object after a strategic merge patch.
func patched[object any](old *object, patch []byte) (*object, error) {
	made := new(object)
	before, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, *made)
	if err != nil {
		return nil, err
	}
	return made, json.Unmarshal(after, made)
}
