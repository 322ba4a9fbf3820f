# assay::assay has the include folder of assay.h, for shared objects that assay loads (`assay run
# --load`); assay_PROGRAM is the program.
get_filename_component(_assay_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET assay::assay)
    add_library(assay::assay INTERFACE IMPORTED)
    set_target_properties(assay::assay PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_assay_prefix}/include")
endif()
set(assay_PROGRAM "${_assay_prefix}/bin/assay")
unset(_assay_prefix)
