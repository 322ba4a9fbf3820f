# The program with the emulator in place of the CUDA runtime, made in the root of the working tree. KERNELS="a.cu b.cu"
# takes of kernels/ and baselines/ only these .cu files, those that they call (needed.sh) and what is for the host:
# other variants are not in the program. Variants of libraries never are, whose kernels cannot be emulated. MORE=TEST,
# with its path in the build folder, is made too.
EMULATOR := tests/emulator
BUILD ?= build/emulator
LIB := $(abspath $(BUILD))/lib
CXX ?= g++
CUDA_INCLUDE ?= /usr/local/cuda/include
OBJECTS := $(patsubst $(EMULATOR)/%.cc,$(LIB)/%.o,$(wildcard $(EMULATOR)/*.cc))
# -Wno-restrict: g++ 12 sees overlaps in sums of strings where none are (its bug 105651).
FLAGS := -std=c++20 -O2 -g1 -mavx2 -mfma -ffp-contract=off -fPIC -fno-strict-aliasing -Wall -Wextra -Werror -Wno-restrict

SOURCES := $(sort $(shell find kernels baselines -name '*.c' -o -name '*.cu'))
LIBRARIES := $(shell grep -lE 'ASSAY_REGISTER_VARIANT' /dev/null $$(grep -lE '"[^"]*(cublas|cudnn)[^"]*\.h"' $(SOURCES)))
LIBRARIES += kernels/codec/network/codec_batch_unfused_cuda.c
ifdef KERNELS
FAMILIES := $(filter-out %_cuda.c %.cu,$(SOURCES)) $(shell $(EMULATOR)/needed.sh $(KERNELS))
else
FAMILIES := $(filter-out $(LIBRARIES),$(SOURCES))
endif

.PHONY: all
all: $(LIB)/libcudart_static.a
	+@$(MAKE) -f Makefile BUILD=$(BUILD) CUDA=1 TWINS= ARCH=90 CUDA_LIB=$(LIB)/ NVCCFLAGS=--no-compress \
	    GENCODE="-gencode arch=compute_90a,code=compute_90a" FAMILY_O="$(FAMILIES:%=$(BUILD)/%.o)" $(BUILD)/assay $(MORE)

$(LIB)/libcudart_static.a: $(OBJECTS)
	rm -f $@ $(BUILD)/assay && ar rcs $@ $^

$(LIB)/%.o: $(EMULATOR)/%.cc $(wildcard $(EMULATOR)/*.h)
	@mkdir -p $(@D)
	$(CXX) $(FLAGS) -isystem $(CUDA_INCLUDE) -c -o $@ $<
