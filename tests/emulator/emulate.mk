# The program with the emulator in place of the CUDA runtime: `make -f tests/emulator/emulate.mk` in the root of
# a working tree, which may be another than this file's. KERNELS="a.cu b.cu" takes only those .cu files of kernels/ and
# baselines/ (the harness's always), which is quicker; variants of the others crash when they are run.
EMULATOR := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
BUILD ?= build/emulator
LIB := $(abspath $(BUILD))/lib
CXX ?= g++
CUDA_INCLUDE ?= /usr/local/cuda/include
OBJECTS := $(patsubst $(EMULATOR)/%.cc,$(LIB)/%.o,$(wildcard $(EMULATOR)/*.cc))
ARGUMENTS := BUILD=$(BUILD) CUDA=1 TWINS= ARCH=90 CUDA_LIB=$(LIB)/ NVCCFLAGS=--no-compress \
    GENCODE="-gencode arch=compute_90a,code=compute_90a"
ifdef KERNELS
HOST := $(shell find kernels baselines -name '*.c')
ARGUMENTS += FAMILY_O="$(patsubst %,$(BUILD)/%.o,$(HOST) $(KERNELS))" LDFLAGS="-no-pie -Wl,--unresolved-symbols=ignore-all"
endif

.PHONY: all
all: $(LIB)/libcudart_static.a
	+@$(MAKE) -f Makefile $(ARGUMENTS) $(BUILD)/assay

$(LIB)/libcudart_static.a: $(OBJECTS)
	rm -f $@ $(BUILD)/assay && ar rcs $@ $^

$(LIB)/%.o: $(EMULATOR)/%.cc $(wildcard $(EMULATOR)/*.h)
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -O2 -g1 -mavx2 -mfma -ffp-contract=off -fPIC -fno-strict-aliasing -Wall -Wextra \
	    -isystem $(CUDA_INCLUDE) -c -o $@ $<
