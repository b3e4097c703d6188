package main

/*
#include <stdlib.h>
#include "judge.h"
*/
import "C"

import (
	"encoding/binary"
	"strings"
	"unsafe"
)

// gang is a group as upstream's plugins know it. C judges by what refresh writes.
type gang struct {
	parent string
	min    int64
	exists bool
	pods   int64 // that exist and name it
	c      *C.struct_gang
}

// gangs are what the queue does not know of groups: which of their objects there are.
type gangs struct {
	all   map[string]*gang
	exist map[identity]string // pods that were added, and not deleted since; their groups
}

// groupNumber is the bytes of a group's name, so that numbers are in the order of names; 0 for "".
func groupNumber(name string) uint64 {
	var bytes [8]byte
	copy(bytes[:], name)
	return binary.BigEndian.Uint64(bytes[:])
}

func groupName(number uint64) string {
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], number)
	return strings.TrimRight(string(bytes[:]), "\x00")
}

func (gangs *gangs) named(name string) *gang {
	if gangs.all[name] == nil {
		gangs.all[name] = &gang{c: (*C.struct_gang)(C.calloc(1, C.sizeof_struct_gang))}
	}
	return gangs.all[name]
}

// root goes by the objects that exist; nil: one above does not.
func (gangs *gangs) root(name string) *gang {
	for range 64 {
		gang := gangs.all[name]
		if gang == nil || !gang.exists {
			return nil
		}
		if gang.parent == "" {
			return gang
		}
		name = gang.parent
	}
	return nil
}

// refresh comes after each change, before the call that makes the library ask.
func (gangs *gangs) refresh() {
	for name, gang := range gangs.all {
		gang.c.root, gang.c.enough = nil, 0
		if root := gangs.root(name); root != nil {
			gang.c.root = root.c
			if gang.min <= gang.pods {
				gang.c.enough = 1
			}
		}
	}
}

// come: gates ask for a pod while it is added.
func (gangs *gangs) come(id identity, group string) {
	if _, known := gangs.exist[id]; !known && group != "" {
		gangs.named(group).pods++
	}
	gangs.exist[id] = group
	gangs.refresh()
}

func (gangs *gangs) leave(id identity) {
	if group := gangs.exist[id]; group != "" {
		gangs.named(group).pods--
	}
	delete(gangs.exist, id)
	gangs.refresh()
}

func (gangs *gangs) free() {
	for _, gang := range gangs.all {
		C.free(unsafe.Pointer(gang.c))
	}
}
