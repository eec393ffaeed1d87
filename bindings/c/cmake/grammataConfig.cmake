# The targets grammata::grammata (the shared library) and grammata::static, from where this file is installed.
get_filename_component(_grammata_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
include(CMakeFindDependencyMacro)
find_dependency(Threads)

if(NOT TARGET grammata::grammata)
  add_library(grammata::grammata SHARED IMPORTED)
  set_target_properties(grammata::grammata PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_grammata_prefix}/include"
    IMPORTED_LOCATION
      "${_grammata_prefix}/lib/${CMAKE_SHARED_LIBRARY_PREFIX}grammata${CMAKE_SHARED_LIBRARY_SUFFIX}")

  add_library(grammata::static STATIC IMPORTED)
  set_target_properties(grammata::static PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_grammata_prefix}/include"
    IMPORTED_LOCATION
      "${_grammata_prefix}/lib/${CMAKE_STATIC_LIBRARY_PREFIX}grammata${CMAKE_STATIC_LIBRARY_SUFFIX}"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
unset(_grammata_prefix)
