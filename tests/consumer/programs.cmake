# The programs of a user's project, with both forms of the library, and beside another jemalloc.
add_executable(consumer ${CMAKE_CURRENT_LIST_DIR}/../../examples/embed.c)
target_link_libraries(consumer PRIVATE schedq::schedq)
add_executable(consumer_shared ${CMAKE_CURRENT_LIST_DIR}/../../examples/embed.c)
target_link_libraries(consumer_shared PRIVATE schedq::schedq_shared)

foreach(library schedq schedq_shared)
    add_executable(malloc_owner_${library} ${CMAKE_CURRENT_LIST_DIR}/malloc_owner.c)
    target_link_libraries(malloc_owner_${library} PRIVATE schedq::${library} ${CMAKE_DL_LIBS})
    add_executable(malloc_owner_jemalloc_${library} ${CMAKE_CURRENT_LIST_DIR}/malloc_owner.c)
    target_link_libraries(malloc_owner_jemalloc_${library} PRIVATE
        schedq::${library} -Wl,--no-as-needed jemalloc ${CMAKE_DL_LIBS})
endforeach()
