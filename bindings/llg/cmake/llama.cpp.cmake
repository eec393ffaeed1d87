# Builds llama.cpp with libgrammata_llg in place of llguidance, without a change to its files:
#
#   cmake -B build -DCMAKE_PROJECT_llama.cpp_INCLUDE=<this file> -DGRAMMATA_LLG_LIBRARIES=<folder of libgrammata_llg>
#
# LLAMA_LLGUIDANCE stays off: it would fetch and build llguidance.

cmake_minimum_required(VERSION 3.19)

set(GRAMMATA_LLG_LIBRARIES "" CACHE PATH "The folder of libgrammata_llg")
find_library(GRAMMATA_LLG_LIBRARY grammata_llg PATHS "${GRAMMATA_LLG_LIBRARIES}" REQUIRED)
get_filename_component(GRAMMATA_LLG_INCLUDE "${CMAKE_CURRENT_LIST_DIR}/../include" ABSOLUTE)

# the target is there when llama.cpp's own file has been read
cmake_language(DEFER CALL target_compile_definitions llama-common PUBLIC LLAMA_USE_LLGUIDANCE)
cmake_language(DEFER CALL target_include_directories llama-common PRIVATE "${GRAMMATA_LLG_INCLUDE}")
cmake_language(DEFER CALL target_link_libraries llama-common PUBLIC "${GRAMMATA_LLG_LIBRARY}")
